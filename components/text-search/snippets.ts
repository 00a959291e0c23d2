/** Excerpts of texts with their matches. */
import type { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { graphPrefix, separator } from '../../lib/storage/keys/quad-keys.js';
import { entryKey, type ResourceRecord, rangeOf } from '../../lib/storage/keys/records.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { contentText, nameText, titlesText } from './content.js';
import { subjectSpace } from './entries.js';
import { isStatement, placeOf, type TextStatement, textStatement } from './statements.js';
import { matchesWord, type Term } from './terms.js';
import { wordsOf } from './tokens.js';

/** An excerpt in plain text. */
export interface Snippet {
  readonly text: string;
  /** Start and end of the matches in the text, in UTF-16 code units, the end exclusive. */
  readonly matches: readonly (readonly [start: number, end: number])[];
  /** Language, subject and predicate if the text is a literal. */
  readonly language?: string;
  readonly subject?: string;
  readonly predicate?: string;
}

/** Length of an excerpt and of the text before its first match; maximum length that is searched for a match word by word. */
const [length, lead, longestSearched] = [240, 60, 1 << 14];
/** Maximum statements of a subject that are read to find one. */
const maxStatements = 20_000;

type Source = Pick<Snippet, 'text' | 'language' | 'subject' | 'predicate'>;

/** Returns an excerpt of the text at a place of a resource. `undefined` if it cannot be read. */
export async function snippetOf(
  { store, snapshot }: { readonly store: Store; readonly snapshot: StoreSnapshot },
  record: ResourceRecord,
  { place, terms }: { readonly place: string; readonly terms: readonly Term[] },
): Promise<Snippet | undefined> {
  const source = await textAt({ store, snapshot }, record, place);
  return source && excerpt(source, terms);
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
        const place = placeOf(iri, key);
        if (left.delete(place)) found.set(place, textStatement(key)!);
      }
      read += keys.length;
      if (left.size === 0 || read > maxStatements) break;
    }
  }
  return found;
}

/** True if a word may be a part of a match of a term. */
function isMatch(token: string, language: string, term: Term): boolean {
  if (term.kind === 'phrase') return term.tokens.includes(token);
  return term.kind === 'prefix' ? token.startsWith(term.token) : matchesWord(token, language, term.token);
}

/** Returns an excerpt around the first match. */
function excerpt({ text, language = '', ...source }: Source, terms: readonly Term[]): Snippet {
  const first = firstMatch(text, language, terms);
  const isWhole = text.length <= length;
  const from = isWhole ? 0 : startOfWord(text, Math.max(0, first - lead));
  const to = isWhole ? text.length : Math.max(first, startOfWord(text, Math.min(text.length, from + length)));
  const shown = text.slice(from, to).trimEnd();
  const matches = [...wordsOf(shown)]
    .filter(({ token }) => terms.some((term) => isMatch(token, language, term)))
    .map(({ start, end }) => [start, end] as const);
  return { text: shown, matches, ...(language === '' ? {} : { language }), ...source };
}

/** Returns the index of a match, or 0 if none is found. Of a long text only the beginning is searched word by word. */
function firstMatch(text: string, language: string, terms: readonly Term[]): number {
  for (const { token, start } of wordsOf(text.slice(0, longestSearched)))
    if (terms.some((term) => isMatch(token, language, term))) return start;
  if (text.length <= longestSearched) return 0;
  const folded = text.toLowerCase();
  const found = terms
    .flatMap((term) => (term.kind === 'phrase' ? term.tokens.slice(0, 1) : [term.token]))
    .map((token) => folded.indexOf(token, longestSearched))
    .filter((at) => at >= 0);
  return found.length === 0 ? 0 : Math.min(...found, text.length - 1);
}

/** Returns the start of the first word at or after an index, or the index in a long word. */
function startOfWord(text: string, at: number): number {
  if (at === 0 || at >= text.length) return at;
  const space = text.slice(at, at + lead).search(/\s/);
  return space < 0 ? at : at + space + 1;
}
