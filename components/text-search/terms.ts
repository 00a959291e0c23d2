/** Terms of a search, and the words that they match. */
import { LwsError } from '../../lib/errors.js';
import { allStemmers, stemmerOf, stemOf } from './stems.js';
import { longestToken, normalized, tokensOf } from './tokens.js';

/** A word, the beginning of a word, or words that follow each other. */
export type Term =
  | { readonly kind: 'word' | 'prefix'; readonly token: string }
  | { readonly kind: 'phrase'; readonly tokens: readonly string[] };

/** Maximum length of a query in characters, and number of its words. */
const [longestQuery, maxWords] = [1_000, 16];
/** Minimum length of the beginning of a word. */
const shortestPrefix = 2;

const refused = (detail: string): LwsError => new LwsError('bad-request', detail);

/**
 * Parses a query: words, phrases in quotation marks, and beginnings of words that end in an asterisk. All of them must match.
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

/** Returns the tokens of words. @throws LwsError `bad-request` for words that are too long to be in the index */
function indexedTokens(text: string): readonly string[] {
  const tokens = tokensOf(text);
  if (tokens.includes('')) throw refused(`The query has a word of more than ${longestToken} characters.`);
  return tokens;
}

function phraseOf(text: string): readonly Term[] {
  const tokens = indexedTokens(text);
  return tokens.length === 0 ? [] : [{ kind: 'phrase', tokens }];
}

function wordsIn(text: string): readonly Term[] {
  const tokens = indexedTokens(text);
  const isPrefix = /[^*]\*$/.test(text);
  return tokens.map((token, index) => {
    if (!isPrefix || index < tokens.length - 1) return { kind: 'word', token };
    if (token.length < shortestPrefix)
      throw refused(`The beginning of a word must have at least ${shortestPrefix} characters before the asterisk.`);
    return { kind: 'prefix', token };
  });
}

/** Returns a label as it is compared with a beginning. */
export const foldedLabel = (text: string): string =>
  normalized(text)
    .split(/[\s\u0000]+/)
    .join(' ')
    .trim();

/** True if a language is in a range of RFC 4647 (basic filtering): `en` contains `en-GB`. */
export const isInRange = (language: string, range: string): boolean =>
  language === range || language.startsWith(`${range}-`);

/** Language of the matching literals. Absent: any language, and texts without language. */
export interface Language {
  /** In lower case. */
  readonly lang?: string | undefined;
}

/** True if a word in a text of a language matches a token of a query. @param language in lower case; empty for none */
export function matchesWord(word: string, language: string, token: string): boolean {
  if (word === token) return true;
  const stemmer = language === '' ? undefined : stemmerOf(language);
  return stemmer !== undefined && stemOf(word, stemmer) === stemOf(token, stemmer);
}

/** A list of postings that a word of a query matches, and which of them. */
export interface Lookup {
  readonly token: string;
  /** @param isStem the postings are of words with this stem, instead of words that are the token */
  accepts(language: string, isStem: boolean): boolean;
}

/**
 * Returns the lists with all words that match a token of a query, each word once. A word and its stem, if they differ, have
 * postings in two lists.
 */
export function lookupsOf(token: string, { lang }: Language): readonly Lookup[] {
  const range = (language: string): boolean => lang === undefined || isInRange(language, lang);
  const names = lang === undefined ? allStemmers : [stemmerOf(lang)].filter((name) => name !== undefined);
  const lists = new Set([token, ...names.map((name) => stemOf(token, name))]);
  return [...lists].map((list) => ({
    token: list,
    accepts(language, isStem) {
      if (!range(language)) return false;
      const stemmer = language === '' ? undefined : stemmerOf(language);
      if (stemmer === undefined) return !isStem && list === token;
      // Words that have this stem. Those that are the stem themselves have no second posting.
      return stemOf(token, stemmer) === list && (isStem || stemOf(list, stemmer) === list);
    },
  }));
}
