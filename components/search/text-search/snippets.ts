/** Creates excerpts of texts, with the positions of the matches. */
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { graphPrefix, separator } from '../../../lib/storage/keys/quad-keys.js';
import { entryKey, type ResourceRecord, rangeOf } from '../../../lib/storage/keys/records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { contentText, nameText, titlesText } from './content.js';
import { subjectSpace } from './entries.js';
import { foldedText } from './folding.js';
import { isStatement, statementPlace, type TextStatement, textStatement } from './statements.js';
import { isMatch, type Term } from './terms.js';
import { longestToken, wordsOf } from './tokens.js';

/** Excerpt as plain text. */
interface Snippet {
  readonly text: string;
  /** Start and end (exclusive) of each match in the text, in UTF-16 code units. */
  readonly matches: readonly (readonly [start: number, end: number])[];
  /** Language, subject and predicate, if the text is a literal. */
  readonly language?: string;
  readonly subject?: string;
  readonly predicate?: string;
}

/** Maximum length of an excerpt, and of its text before the first match. */
const [length, lead] = [240, 60];
/**
 * Maximum length of the beginning in which every word is compared. Length of the parts of the rest: only parts with a word of
 * the query are compared. Maximum count of compared parts.
 */
const [longestSearched, partLength, maxParts] = [1 << 14, 1 << 12, 12];
/** Maximum count of statements of a subject that are read to find one statement. */
const maxStatements = 20_000;

type Source = Pick<Snippet, 'text' | 'language' | 'subject' | 'predicate'>;

/** Returns an excerpt of the text at a place of a resource, or `undefined` if the text cannot be read. */
export async function snippetOf(
  { store, snapshot }: { readonly store: Store; readonly snapshot: StoreSnapshot },
  record: ResourceRecord,
  { place, terms }: { readonly place: string; readonly terms: readonly Term[] },
): Promise<Snippet | undefined> {
  const source = await textAt({ store, snapshot }, record, place);
  return source && (await excerpt(source, terms));
}

/** Returns the text at a place of a resource. */
export async function textAt(
  { store, snapshot }: { readonly store: Store; readonly snapshot: StoreSnapshot },
  record: ResourceRecord,
  place: string,
): Promise<Source | undefined> {
  if (place === 'n') return { text: nameText(record.iri) };
  if (place === 't') {
    const [links] = await snapshot.values([entryKey('links', record.iri)]);
    return { text: titlesText(JSON.parse(links ?? '{}')) };
  }
  if (isStatement(place)) {
    const statement = (await statementsAt(snapshot, record.iri, [place])).get(place);
    if (!statement) return undefined;
    const { text, language, isIri, subject, predicate } = statement;
    return { text, language, subject: isIri ? subject : `_:${subject}`, predicate };
  }
  return { text: await contentText(store.blobs, record) };
}

/** Finds statements of a resource by their places. */
export async function statementsAt(
  snapshot: StoreSnapshot,
  iri: string,
  places: readonly string[],
): Promise<ReadonlyMap<string, TextStatement>> {
  const wanted = new Map<string, Set<string>>();
  for (const place of places) {
    const [, fragment = '', isElsewhere] = /^.{10}(#[^!]*)?(!)?$/.exec(place)!;
    const [subject] = isElsewhere ? await snapshot.values([entryKey(subjectSpace, iri, place)]) : [iri + fragment];
    if (subject !== undefined) wanted.set(subject, (wanted.get(subject) ?? new Set()).add(place));
  }
  const found = new Map<string, TextStatement>();
  for (const [subject, left] of wanted) {
    let read = 0;
    for await (const keys of snapshot.keys(rangeOf(`${graphPrefix(iri)}${subject}${separator}`))) {
      for (const key of keys) {
        const place = statementPlace(iri, key);
        if (left.delete(place)) found.set(place, textStatement(key)!);
      }
      read += keys.length;
      if (left.size === 0 || read > maxStatements) break;
    }
  }
  return found;
}

/** Returns an excerpt around the first match in a text. */
async function excerpt({ text, language = '', ...source }: Source, terms: readonly Term[]): Promise<Snippet> {
  const first = await firstMatch(text, language, terms);
  const isWhole = text.length <= length;
  const from = isWhole ? 0 : startOfWord(text, Math.max(0, first - lead));
  const to = isWhole ? text.length : Math.max(first, startOfWord(text, Math.min(text.length, from + length)));
  const shown = text.slice(from, to).trimEnd();
  const matches = [...wordsOf(shown)]
    .filter(({ written }) => terms.some((term) => isMatch(written, language, term)))
    .map(({ start, end }) => [start, end] as const);
  return { text: shown, matches, ...(language === '' ? {} : { language }), ...source };
}

/** Returns the index of a match, or 0 if none is found. In a long text, compares words only in the beginning and some parts. */
async function firstMatch(text: string, language: string, terms: readonly Term[]): Promise<number> {
  const matchIn = (from: number, to: number): number | undefined => {
    for (const { written, start } of wordsOf(text.slice(from, to)))
      if (terms.some((term) => isMatch(written, language, term))) return from + start;
    return undefined;
  };
  const tokens = terms.flatMap((term) => (term.kind === 'phrase' ? term.tokens : [term.token]));
  let parts = 0;
  for (let from = 0; from < text.length && parts < maxParts; from += partLength) {
    if (from > 0) await yieldToEventLoop();
    // Parts overlap, so that a word across the boundary is found.
    const to = from + partLength + longestToken;
    const folded = from < longestSearched ? '' : foldedText(text.slice(from, to));
    if (from >= longestSearched && !tokens.some((token) => folded.includes(token))) continue;
    parts++;
    const found = matchIn(from, to);
    if (found !== undefined) return found;
  }
  return 0;
}

/** Returns the start of the first word at or after an index; inside a long word, the index itself. */
function startOfWord(text: string, at: number): number {
  if (at === 0 || at >= text.length) return at;
  const space = text.slice(at, at + lead).search(/\s/);
  return space < 0 ? at : at + space + 1;
}
