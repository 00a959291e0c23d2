/** Stems of words by language. */
import { lruCache } from '../../../lib/tools/caches.js';
import { dotted } from './folding.js';

/** Stemmer for Turkish, the only one that distinguishes dotted and dotless i. */
export const turkish = 'turkish';

/** Name of the stemmer for each supported language, by the first subtag. */
const algorithms: Readonly<Record<string, string>> = {
  ...{ da: 'danish', de: 'german', en: 'english', es: 'spanish', fi: 'finnish', fr: 'french', hu: 'hungarian' },
  ...{ it: 'italian', nb: 'norwegian', nl: 'dutch', nn: 'norwegian', no: 'norwegian', pt: 'portuguese' },
  ...{ ro: 'romanian', ru: 'russian', sv: 'swedish', tr: turkish },
};

const stemmers = new Map<string, { stem(word: string): string }>();
const known = lruCache<string>(20_000);

/** Loads the stemmers (0.9 MB of code). */
export async function loadStemmers(): Promise<void> {
  if (stemmers.size > 0) return;
  const { default: snowball } = await import('snowball-stemmers');
  for (const name of new Set(Object.values(algorithms))) stemmers.set(name, snowball.newStemmer(name));
}

/** Returns the name of the stemmer for a language tag, or `undefined` if there is none. */
export function stemmerOf(language: string): string | undefined {
  const end = language.indexOf('-');
  const primary = (end < 0 ? language : language.slice(0, end)).toLowerCase();
  return Object.hasOwn(algorithms, primary) ? algorithms[primary] : undefined;
}

/** Names of all stemmers. */
export const allStemmers: readonly string[] = [...new Set(Object.values(algorithms))];

/** Returns the folded stem of a token. @param stemmer from `stemmerOf` */
export function stemOf(token: string, stemmer: string): string {
  const key = `${stemmer} ${token}`;
  let stem = known.get(key);
  if (stem === undefined) {
    stem = dotted(stemmers.get(stemmer)!.stem(token));
    known.set(key, stem);
  }
  return stem;
}
