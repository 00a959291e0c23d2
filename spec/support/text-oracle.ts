/** Oracle of the text search: scans all texts that the caller can read. Must not depend on the index. */
import snowball from 'snowball-stemmers';

/** A text of a resource with its language, empty for none. */
export interface OracleText {
  readonly text: string;
  readonly language: string;
}

/** A readable resource. */
export interface OracleResource {
  readonly iri: string;
  readonly texts: readonly OracleText[];
}

export interface OracleSearch {
  /** Terms as written: words, `word*`, and phrases as lists. */
  readonly terms: readonly (string | readonly string[])[];
  readonly lang?: string | undefined;
  readonly within?: string | undefined;
}

const stemmers: Readonly<Record<string, string>> = { en: 'english', de: 'german', fr: 'french' };
const stem = (word: string, language: string): string => {
  const name = stemmers[language.split('-')[0]!];
  return name === undefined ? word : snowball.newStemmer(name).stem(word);
};

/** Words of the texts of the properties: letters and digits only. */
const words = (text: string): string[] => text.toLowerCase().match(/[a-z0-9]+/g) ?? [];

function occurrences(
  { text, language }: OracleText,
  term: string | readonly string[],
  lang: string | undefined,
): number {
  if (lang !== undefined && language !== lang && !language.startsWith(`${lang}-`)) return 0;
  const all = words(text);
  if (typeof term !== 'string')
    return all.filter((_, at) => term.every((word, index) => all[at + index] === word)).length;
  if (term.endsWith('*')) return all.filter((word) => word.startsWith(term.slice(0, -1))).length;
  return all.filter((word) => word === term || stem(word, language) === stem(term, language)).length;
}

/** Returns the matching resources with their scores, best first. */
export function scan(
  resources: readonly OracleResource[],
  { terms, lang, within }: OracleSearch,
): { readonly iri: string; readonly score: number }[] {
  const counted = resources.map(({ iri, texts }) => ({
    iri,
    length: texts.reduce((sum, { text }) => sum + words(text).length, 0),
    counts: terms.map((term) => texts.reduce((sum, text) => sum + occurrences(text, term, lang), 0)),
  }));
  const n = counted.length;
  const average = counted.reduce((sum, { length }) => sum + length, 0) / n;
  const weights = terms.map((_, at) => {
    const df = counted.filter(({ counts }) => counts[at]! > 0).length;
    return Math.log(1 + (n - df + 0.5) / (df + 0.5));
  });
  return counted
    .filter(({ iri, counts }) => counts.every((count) => count > 0) && (within === undefined || iri.startsWith(within)))
    .map(({ iri, length, counts }) => ({
      iri,
      score: counts.reduce(
        (sum, tf, at) => sum + (weights[at]! * tf * 2.2) / (tf + 1.2 * (0.25 + (0.75 * length) / average)),
        0,
      ),
    }))
    .sort((a, b) => b.score - a.score || (a.iri < b.iri ? -1 : 1));
}
