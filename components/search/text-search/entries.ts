/**
 * Index entries of texts. A posting is a key without value: token, resource, place (identifies a text of the resource), and
 * positions of the token in that text. Each text has its own postings, so that a change of a graph stages only the postings of
 * the changed statements.
 */
import { spansOfKey } from '../../../lib/storage/keys/quad-decoding.js';
import { entryKey } from '../../../lib/storage/keys/records.js';
import { formsOf } from './forms.js';
import { putLabel } from './label-entries.js';
import { type Put, statementPlace, textStatement } from './statements.js';
import { writtenWords } from './tokens.js';

/** Key layout: `text`, token, resource, place, positions. */
export const textSpace = 'text';
/** Key layout: `text-of`, resource, `DocumentFacts`. If a resource has postings but no such entry, its graph is not visible. */
export const documentSpace = 'text-of';
export const textPostings = { space: textSpace, parts: 1, of: 'postings' } as const;
export const documentPostings = { space: documentSpace, parts: 0 } as const;
/**
 * Key layout: `text-words`, resource. The value has the word count of the graph, the word count of other texts, and the
 * `DocumentFacts`, which the next change reads, and then the distinct words (`Words`).
 */
export const wordsSpace = 'text-words';
/** Key layout: `text-at`, resource, place. The value is the subject of the statement. */
export const subjectSpace = 'text-at';

/** Places of texts that are not statements: content (`b`), name (`n`) and link titles (`t`). */
export type TextPlace = 'b' | 'n' | 't';

/** Maximum counts of indexed tokens of a text, and of indexed positions of a token. */
const [maxTokens, maxPositions] = [10_000, 1_000];

/** Collects the words of added entries. */
interface WordList {
  add(word: string): void;
}

/** Receives index entries, and the words of the texts. */
export interface EntryTarget {
  readonly put: Put;
  readonly words?: WordList | undefined;
  /** Yields to other work while a long text is indexed. */
  pause(): Promise<void>;
}

/** Puts the entries of a statement. @returns the word count, 0 if the object is not a text, or a promise for a long text */
export function putStatement(iri: string, key: string, target: EntryTarget): number | Promise<number> {
  const spans = spansOfKey(key);
  const statement = textStatement(key, spans);
  if (!statement) return 0;
  const { put } = target;
  const place = statementPlace(iri, key, spans);
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

/** Positions of a token in a text, serialized, and their count. */
interface Positions {
  count: number;
  text: string;
}

/** Positions of words with the token as one of their forms, and of words with the token as their stem. */
interface Occurrences {
  readonly written: Positions;
  readonly stems: Positions;
}

/** Cost of text pieces, and count of postings, after which indexing yields to the event loop. */
const [costAtATime, postingsAtATime] = [4_096, 2_500];

/** Maximum length of a text that is indexed without yielding to the event loop. */
const shortText = 1_024;

/** Puts the postings of a text. @returns the word count, or a promise for a long text */
export function putText(text: PlacedText, target: EntryTarget): number | Promise<number> {
  const found = new Found(text.language);
  if (text.text.length > shortText) return putLongText(found, text, target);
  for (const { words } of writtenWords(text.text)) found.add(words);
  for (const posting of found.postings(text)) putPosting(posting, target);
  return found.count;
}

async function putLongText(found: Found, text: PlacedText, target: EntryTarget): Promise<number> {
  let work = 0;
  for (const { words, cost } of writtenWords(text.text)) {
    found.add(words);
    work += cost;
    if (work < costAtATime) continue;
    work = 0;
    await target.pause();
  }
  for (const posting of found.postings(text)) {
    putPosting(posting, target);
    if (++work % postingsAtATime === 0) await target.pause();
  }
  return found.count;
}

function putPosting([token, key]: readonly [string, string], { put, words }: EntryTarget): void {
  words?.add(token);
  put(key, '');
}

/** Collects the words of a text. */
class Found {
  /** Count of words so far. */
  count = 0;
  private readonly tokens = new Map<string, Occurrences>();

  constructor(private readonly language: string) {}

  /** Adds words. @param words next words of the text, from `writtenWords` */
  add(words: readonly string[]): void {
    for (const word of words) {
      const position = this.count++;
      const { tokens, stems } = formsOf(word, this.language);
      for (const token of tokens) this.note(token, 'written', position);
      for (const stem of stems) this.note(stem, 'stems', position);
    }
  }

  private note(token: string, list: keyof Occurrences, position: number): void {
    let occurrences = this.tokens.get(token);
    if (!occurrences) {
      if (this.tokens.size >= maxTokens) return;
      occurrences = { written: { count: 0, text: '' }, stems: { count: 0, text: '' } };
      this.tokens.set(token, occurrences);
    }
    const positions = occurrences[list];
    if (++positions.count > maxPositions) return;
    const digits = position.toString(36);
    positions.text = positions.text === '' ? digits : `${positions.text},${digits}`;
  }

  /** Yields each token with the key of its posting. */
  *postings({ iri, place, language }: PlacedText): Generator<readonly [token: string, key: string]> {
    const before = entryKey(textSpace, '');
    const after = `\u0000${iri}\u0000${place}\u0000${language === '' ? '' : `${language}:`}`;
    for (const [token, { written, stems }] of this.tokens) {
      const ofStems = stems.text === written.text ? same : stems.text;
      yield [token, `${before}${token}${after}${written.text}${stems.text === '' ? '' : `~${ofStems}`}`];
    }
  }
}

/** Marks that the positions of stems equal the positions of words. */
const same = '=';

/** The part of a posting after its resource. */
export interface Posting {
  readonly place: string;
  readonly language: string;
  /** Serialized positions of words with the token as a form, and of words with the token as stem. */
  readonly written: string;
  readonly stems: string;
}

/** Parses the part of a posting after its resource. @param from index in `text` at which that part starts */
export function readPosting(text: string, from = 0): Posting {
  const cut = text.indexOf('\u0000', from);
  const colon = text.indexOf(':', cut);
  const tilde = text.indexOf('~', cut);
  const written = text.slice((colon < 0 ? cut : colon) + 1, tilde < 0 ? text.length : tilde);
  const stems = tilde < 0 ? '' : text.slice(tilde + 1);
  return {
    place: text.slice(from, cut),
    language: colon < 0 ? '' : text.slice(cut + 1, colon),
    ...{ written, stems: stems === same ? written : stems },
  };
}

/** Returns the count of serialized positions. */
export function countOf(positions: string): number {
  if (positions === '') return 0;
  let count = 1;
  for (let at = positions.indexOf(','); at >= 0; at = positions.indexOf(',', at + 1)) count++;
  return count;
}

/** Returns serialized positions as numbers. */
export const positionsOf = (positions: string): number[] =>
  positions === '' ? [] : positions.split(',').map((each) => Number.parseInt(each, 36));

/** Facts about an indexed resource: whether it has a graph, and its word count. */
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
