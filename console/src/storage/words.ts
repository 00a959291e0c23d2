/** Words for IRIs of properties and classes, for readers who do not know their vocabularies. */
import { decoded } from './names.js';

/** Last part of an IRI as words: `Birth date` for `schema:birthDate`. The whole IRI if it has none. */
export function wordsOf(iri: string): string {
  const last = decoded(/[^/#:]+(?=[/#]?$)/.exec(iri)?.[0] ?? iri);
  const words = last
    .replace(/[-_]+/g, ' ')
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .trim()
    .split(/ +/)
    // Abbreviations stay as they are.
    .map((word) => (/^\p{Lu}[^\p{Lu}]*$/u.test(word) ? word.toLowerCase() : word))
    .join(' ');
  return words === '' ? iri : words[0]!.toUpperCase() + words.slice(1);
}
