/**
 * Index entries of texts. A posting is a key without value: token, resource, place of the text in the resource, and the positions
 * of the token in it. Every text has its own postings, so that a change of a graph stages those of its changed statements only.
 */
import { spansOfKey } from '../../lib/storage/keys/quad-decoding.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { putLabel } from './label-entries.js';
import { type Put, placeOf, textStatement } from './statements.js';
import { stemmerOf, stemOf } from './stems.js';
import { tokensOf } from './tokens.js';

/** Key layout: `text`, token, resource, place, positions. */
export const textSpace = 'text';
/** Key layout: `text-of`, resource, `DocumentFacts`. Postings of other resources are those of graphs that are not visible. */
export const documentSpace = 'text-of';
export const textPostings = { space: textSpace, parts: 1, of: 'postings' } as const;
export const documentPostings = { space: documentSpace, parts: 0 } as const;
/**
 * Key layout: `text-words`, resource. The value: number of words of its graph, of other words, and its `DocumentFacts`, for the next
 * change, then its distinct words (`Words`).
 */
export const wordsSpace = 'text-words';
/** Key layout: `text-at`, resource, place. The value is the subject of the statement. */
export const subjectSpace = 'text-at';

/** Places of texts that are not statements: content, name and linkset. */
export type TextPlace = 'b' | 'n' | 't';

/** Maximum distinct tokens of a text with postings, and positions of each. */
const [maxTokens, maxPositions] = [10_000, 1_000];

/** Receives the words of entries that are added. */
interface WordList {
  add(word: string): void;
}

/** Receives index entries, and their words. */
export interface Target {
  readonly put: Put;
  readonly words?: WordList | undefined;
}

/** Puts the entries of a statement. @returns the number of its words; 0 if its object is not a text */
export function putStatement(iri: string, key: string, target: Target): number {
  const spans = spansOfKey(key);
  const statement = textStatement(key, spans);
  if (!statement) return 0;
  const { put } = target;
  const place = placeOf(iri, key, spans);
  if (place.endsWith('!')) put(entryKey(subjectSpace, iri, place), statement.subject);
  putLabel({ iri, place, statement }, put);
  return putText({ iri, place, ...statement }, target);
}

interface PlacedText {
  readonly iri: string;
  readonly place: string;
  readonly text: string;
  readonly language: string;
}

/** Positions of one token in a text: of words that are the token, and of words with it as stem, as text. */
interface Positions {
  count: number;
  written: string;
  stems: string;
}

/** Puts the postings of a text. @returns the number of its words */
export function putText({ iri, place, text, language }: PlacedText, { put, words }: Target): number {
  const stemmer = language === '' ? undefined : stemmerOf(language);
  const found = new Map<string, Positions>();
  const add = (token: string, list: 'written' | 'stems', position: number): void => {
    let positions = found.get(token);
    if (!positions) {
      if (found.size >= maxTokens) return;
      positions = { count: 0, written: '', stems: '' };
      found.set(token, positions);
    }
    if (++positions.count > maxPositions) return;
    const digits = position.toString(36);
    positions[list] = positions[list] === '' ? digits : `${positions[list]},${digits}`;
  };
  const tokens = tokensOf(text);
  for (const [position, token] of tokens.entries()) {
    if (token === '') continue;
    add(token, 'written', position);
    if (stemmer === undefined) continue;
    const stem = stemOf(token, stemmer);
    if (stem !== token) add(stem, 'stems', position);
  }
  const before = entryKey(textSpace, '');
  const after = `\u0000${iri}\u0000${place}\u0000${language === '' ? '' : `${language}:`}`;
  for (const [token, { written, stems }] of found) {
    words?.add(token);
    put(stems === '' ? before + token + after + written : `${before}${token}${after}${written}~${stems}`, '');
  }
  return tokens.length;
}

/** A posting after its resource. */
export interface Posting {
  readonly place: string;
  readonly language: string;
  /** Positions of words that are the token, and of those with it as stem, as text. */
  readonly written: string;
  readonly stems: string;
}

/** Reads a posting after its resource. @param from index of its place in a longer text */
export function readPosting(text: string, from = 0): Posting {
  const cut = text.indexOf('\u0000', from);
  const colon = text.indexOf(':', cut);
  const tilde = text.indexOf('~', cut);
  return {
    place: text.slice(from, cut),
    language: colon < 0 ? '' : text.slice(cut + 1, colon),
    written: text.slice((colon < 0 ? cut : colon) + 1, tilde < 0 ? text.length : tilde),
    stems: tilde < 0 ? '' : text.slice(tilde + 1),
  };
}

/** Number of positions. */
export function countOf(positions: string): number {
  if (positions === '') return 0;
  let count = 1;
  for (let at = positions.indexOf(','); at >= 0; at = positions.indexOf(',', at + 1)) count++;
  return count;
}

/** Positions as numbers. */
export const positionsOf = (positions: string): number[] =>
  positions === '' ? [] : positions.split(',').map((each) => Number.parseInt(each, 36));

/** Facts about an indexed resource: true if it has a graph, and its number of words. */
export interface DocumentFacts {
  readonly hasGraph: boolean;
  readonly words: number;
}

export const writeFacts = ({ hasGraph, words }: DocumentFacts): string =>
  `${hasGraph ? 'r' : 'b'}${words.toString(36)}`;
export const readFacts = (text: string): DocumentFacts => ({
  hasGraph: text.startsWith('r'),
  words: Number.parseInt(text.slice(1), 36),
});
