/** Parses the terms of a search, and finds the words that they match. */
import { LwsError } from '../../../lib/tools/errors.js';
import { foldedText } from './folding.js';
import { formsOf, type QueryWord, queryWord, stemOfQuery } from './forms.js';
import { allStemmers, stemmerOf } from './stems.js';
import { longestToken, writtenWords } from './tokens.js';

/** Search term: a word, the beginning of a word, or a phrase. */
export type Term =
  | ({ readonly kind: 'word' } & QueryWord)
  | { readonly kind: 'prefix'; readonly token: string }
  | { readonly kind: 'phrase'; readonly tokens: readonly string[] };

/** Maximum characters and words of a query. */
const [longestQuery, maxWords] = [1_000, 16];
/** Minimum characters before the asterisk of a word beginning. */
const shortestPrefix = 2;

const refused = (detail: string): LwsError => new LwsError('bad-request', detail);

/**
 * Parses a query: words, phrases in quotation marks, and word beginnings followed by an asterisk. All terms must match.
 * @throws LwsError `bad-request`
 */
export function parseTerms(query: string): readonly Term[] {
  if (query.length > longestQuery) throw refused(`The query exceeds ${longestQuery} characters.`);
  const parts = query.split('"');
  if (parts.length % 2 === 0) throw refused('The query has a quotation mark without its counterpart.');
  const terms = parts.flatMap((part, index) => (index % 2 === 1 ? phraseOf(part) : part.split(/\s+/).flatMap(wordsIn)));
  const words = terms.reduce((sum, term) => sum + (term.kind === 'phrase' ? term.tokens.length : 1), 0);
  if (words === 0) throw refused('The query has no words.');
  if (words > maxWords) throw refused(`The query has ${words} words. The maximum is ${maxWords}.`);
  return [...new Map(terms.map((term) => [JSON.stringify(term), term])).values()];
}

/** Returns the words of a text. @throws LwsError `bad-request` for words that are too long to be indexed */
function indexedWords(text: string): readonly QueryWord[] {
  const words = [...writtenWords(text)].flatMap((piece) => piece.words.map(queryWord));
  if (words.some(({ token }) => token === ''))
    throw refused(`The query has a word of more than ${longestToken} characters.`);
  return words;
}

function phraseOf(text: string): readonly Term[] {
  const tokens = indexedWords(text).map(({ token }) => token);
  return tokens.length === 0 ? [] : [{ kind: 'phrase', tokens }];
}

function wordsIn(text: string): readonly Term[] {
  const words = indexedWords(text);
  const isPrefix = /[^*]\*$/.test(text);
  return words.map((word, index) => {
    if (!isPrefix || index < words.length - 1) return { kind: 'word', ...word };
    const { token } = word;
    if (token.length < shortestPrefix)
      throw refused(`The beginning of a word must have at least ${shortestPrefix} characters before the asterisk.`);
    return { kind: 'prefix', token };
  });
}

/** Returns a label in the form that is compared with a beginning. */
export const foldedLabel = (text: string): string =>
  foldedText(text)
    .split(/[\s\u0000]+/)
    .join(' ')
    .trim();

/** True if a language tag is in a language range (RFC 4647 basic filtering): `en` contains `en-GB`. */
export const isInRange = (language: string, range: string): boolean =>
  language === range || language.startsWith(`${range}-`);

/** Language range of the matching literals. Absent: any language, and texts without a language. */
export interface Language {
  /** Language range in lower case. */
  readonly lang?: string | undefined;
}

/** True if a word of a text matches a term or is part of a phrase. @param language of the text in lower case; empty for none */
export function isMatch(written: string, language: string, term: Term): boolean {
  const { tokens, stems } = formsOf(written, language);
  if (term.kind === 'phrase') return tokens.some((token) => term.tokens.includes(token));
  if (term.kind === 'prefix') return tokens.some((token) => token.startsWith(term.token));
  const stemmer = language === '' ? undefined : stemmerOf(language);
  return stemmer === undefined ? tokens.includes(term.token) : stems.includes(stemOfQuery(term, stemmer));
}

/** A posting list that a query word matches, and the test for its postings. */
export interface TermLookup {
  readonly token: string;
  /** Returns true if postings of a language match. @param isStem true for words with the token as stem, not as form */
  accepts(language: string, isStem: boolean): boolean;
}

/**
 * Returns the lists that contain the words matching a query word, each word in only one list. In languages with a stemmer, the
 * lists of stems contain all words.
 */
export function lookupsOf(word: QueryWord, { lang }: Language): readonly TermLookup[] {
  const range = (language: string): boolean => lang === undefined || isInRange(language, lang);
  const names = lang === undefined ? allStemmers : [stemmerOf(lang)].filter((name) => name !== undefined);
  const stems = new Map(names.map((name) => [name, stemOfQuery(word, name)]));
  return [...new Set([word.token, ...stems.values()])].map((list) => ({
    token: list,
    accepts(language, isStem) {
      if (!range(language)) return false;
      const stemmer = language === '' ? undefined : stemmerOf(language);
      return stemmer === undefined ? !isStem && list === word.token : isStem && stems.get(stemmer) === list;
    },
  }));
}
