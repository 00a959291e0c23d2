/** Words for IRIs of properties and classes, for readers who do not know vocabularies. */
import { decoded } from './names.js';

/** Returns the last segment of an IRI as words: `Birth date` for `schema:birthDate`. Without a segment, the IRI. */
export function wordsOf(iri: string): string {
  const last = decoded(/[^/#:]+(?=[/#]?$)/.exec(iri)?.[0] ?? iri);
  const words = last
    .replace(/[-_]+/g, ' ')
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .trim()
    .split(/ +/)
    // Abbreviations keep their capitals.
    .map((word) => (/^\p{Lu}[^\p{Lu}]*$/u.test(word) ? word.toLowerCase() : word))
    .join(' ');
  return words === '' ? iri : words[0]!.toUpperCase() + words.slice(1);
}

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns a file name from words, without an extension: `ada-okafor` for `Ada Okafor`. */
export const fileNameOf = (words: string): string =>
  wordsIn(words.normalize('NFD').replace(/[\u0300-\u036f]/g, ''))
    .join('-')
    .toLowerCase()
    .normalize('NFC')
    .slice(0, 60);

/** Returns the name of a vocabulary term that `wordsOf` converts back: `birthDate` for `Birth date`. */
export function termName(words: string): string {
  const [first = '', ...rest] = wordsIn(words);
  const start = /^\p{Lu}[^\p{Lu}]*$/u.test(first) ? first.toLowerCase() : first;
  return [start, ...rest.map((word) => word[0]!.toUpperCase() + word.slice(1))].join('');
}
