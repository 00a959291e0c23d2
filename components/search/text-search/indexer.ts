/** Maintains the text index: updates it in every transaction, and defines its entries for `rebuild` and `check`. */

import { changesLinks, clientLinks } from '../../../lib/resources/metadata.js';
import { isLargeGraph } from '../../../lib/storage/graphs/graph-lines.js';
import { isDropped, stagedKey } from '../../../lib/storage/graphs/staged-keys.js';
import type { GraphChange, KeyDifference } from '../../../lib/storage/keys/graph-changes.js';
import { PackedKeys } from '../../../lib/storage/keys/graph-keys.js';
import { graphPrefix } from '../../../lib/storage/keys/quad-keys.js';
import { entryKey, type ResourceRecord, rangeOf } from '../../../lib/storage/keys/records.js';
import type { ResourceChange } from '../../../lib/storage/log/changes.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { MaintainedIndex } from '../postings/maintained-index.js';
import { contentText, hasText, nameText, titlesText } from './content.js';
import {
  documentSpace,
  type EntryTarget,
  putStatement,
  putText,
  subjectSpace,
  type TextPlace,
  textSpace,
  wordsSpace,
  writeFacts,
} from './entries.js';
import { beginningSpace, labelSpace, ownLabelSpace } from './label-entries.js';
import { loadStemmers } from './stems.js';
import { hasWords, Words } from './vocabulary.js';

/**
 * Key layout: `text-load`, resource. The value has the upload's name, word count and words, for a graph that is being written.
 */
const loadSpace = 'text-load';
const loadKey = (iri: string): string => entryKey(loadSpace, iri);

/** Statements, words, and entries after which indexing yields to the event loop. A stem takes up to 30 µs. */
const [statementsAtATime, wordsAtATime, entriesAtATime] = [500, 500, 5_000];
/**
 * Maximum entries of a transaction: each takes about 300 bytes. The same limit applies to the words of a graph, so that it can
 * be deleted. Large graphs may have more, because they are written and removed in slices.
 */
const maxEntries = 500_000;

/** Asserts the limit of a transaction. @throws LwsError `too-large` */
function assertFew(words: number): void {
  if (words > maxEntries)
    throw new LwsError(
      'too-large',
      `The request changes more than ${maxEntries} entries of the text index. Split the resource, or the request.`,
    );
}

/** Yields to the event loop while a transaction is indexed, and limits its entries. */
class Pace {
  private statements = 0;
  private words = 0;
  private entries = 0;

  constructor(private readonly tx: Transaction) {}

  /** Counts a statement. Returns a promise if it is time to yield. @throws LwsError `too-large` unless `isBounded` */
  next(words: number, isBounded: boolean): Promise<void> | undefined {
    const { size } = this.tx.postings;
    this.statements++;
    this.words += words;
    if (this.statements < statementsAtATime && this.words < wordsAtATime && size - this.entries < entriesAtATime)
      return undefined;
    if (!isBounded) assertFew(size);
    [this.statements, this.words, this.entries] = [0, 0, size];
    return yieldToEventLoop();
  }
}

/** Stages entries of texts, and sums up the changes of the word counts. */
class Staged {
  graphWords = 0;
  otherWords = 0;

  private readonly added: EntryTarget;
  private readonly removed: EntryTarget;

  /** @param words collects the words of added texts */
  constructor(
    private readonly tx: Transaction,
    words: Words,
    private readonly pace: Pace,
  ) {
    const pause = yieldToEventLoop;
    this.added = { put: (key, value) => void tx.postings.set(key, value), words, pause };
    this.removed = { put: (key) => void tx.postings.set(key, null), pause };
  }

  /** Stages the entries of added and removed statements. @throws LwsError `too-large` for too much text, unless `isBounded` */
  async changed(iri: string, { added = [], removed = [] }: Partial<KeyDifference>, isBounded = false): Promise<void> {
    for (const [keys, target, sign] of [
      [removed, this.removed, -1],
      [added, this.added, 1],
    ] as const)
      for (const key of keys) {
        const count = putStatement(iri, key, target);
        const words = typeof count === 'number' ? count : await count;
        this.graphWords += sign * words;
        const turn = this.pace.next(words, isBounded);
        if (turn) await turn;
      }
  }

  /** Stages the entries of a text. @param text empty if there is none */
  async text(
    isAdded: boolean,
    place: { readonly iri: string; readonly place: TextPlace },
    text: string,
  ): Promise<void> {
    if (text === '') return;
    const words = await putText({ ...place, text, language: '' }, isAdded ? this.added : this.removed);
    this.otherWords += isAdded ? words : -words;
    assertFew(this.tx.postings.size);
  }
}

/** Stages the index changes of a transaction, so that searches find every acknowledged write, also after a crash. */
export async function indexTexts(store: Store, tx: Transaction): Promise<void> {
  const pace = new Pace(tx);
  for (const [iri, difference] of tx.hidden) await indexHidden(pace, tx, { iri, ...difference });
  for (const change of tx.changes) await indexChange(pace, tx, { store, ...change });
}

async function indexChange(
  pace: Pace,
  tx: Transaction,
  { store: { blobs }, before, after }: ResourceChange & { readonly store: Store },
): Promise<void> {
  const { iri } = (after ?? before)!;
  const change = tx.graphs.get(iri);
  const [graphWords, otherWords, factsThen, wordsThen] = wordsBefore(tx, iri);
  // Words of a removed text stay until all texts are replaced, because other texts may contain the same words.
  const isReplaced =
    (before?.triples ?? 0) === (change?.removed.length ?? 0) &&
    (before?.blob === undefined || before.blob !== after?.blob);
  const words = new Words(!after || isReplaced ? '' : wordsThen);
  const staged = new Staged(tx, words, pace);
  // Stage removals first, so that an entry that is both removed and added remains.
  if (before?.blob !== undefined && before.blob !== after?.blob && hasText(before))
    await staged.text(false, { iri, place: 'b' }, await contentText(blobs, before));
  if (before?.linked !== undefined && (!after || changesLinks(tx, iri)))
    await staged.text(false, { iri, place: 't' }, titlesText(clientLinks(tx.before, iri)));
  if (!after) await staged.text(false, { iri, place: 'n' }, nameText(iri));
  if (change) await staged.changed(iri, change, !change.keys && !change.isPart);
  if (!before) await staged.text(true, { iri, place: 'n' }, nameText(iri));
  if (after?.linked !== undefined && (!before || changesLinks(tx, iri)))
    await staged.text(true, { iri, place: 't' }, titlesText(clientLinks(tx, iri)));
  if (after?.blob !== undefined && before?.blob !== after.blob && hasText(after))
    await staged.text(true, { iri, place: 'b' }, await contentText(blobs, after));
  if (factsThen !== undefined) tx.deleteEntry(entryKey(documentSpace, iri, factsThen));
  if (!after) return tx.deleteEntry(entryKey(wordsSpace, iri));
  // A running background rebuild has not indexed this resource yet, and will count its words.
  if (before && factsThen === undefined) return;
  if (isReplaced && before) await putOtherWords(tx, after, words);
  const isDropped = change !== undefined && !change.keys && !change.isPart;
  const inGraph = isDropped ? 0 : graphWords + staged.graphWords + takeLoaded(tx, { iri, change }, words);
  if (change && !isLargeGraph(change.triples.after)) assertFew(inGraph);
  const hasGraph = after.kind === 'rdf';
  const counts = { hasGraph, graphWords: inGraph, otherWords: otherWords + staged.otherWords };
  const facts = { ...counts, words: words.written(isLargeGraph(after.triples ?? 0)) };
  for (const [key, value] of factEntries(iri, facts)) tx.putEntry(key, value);
}

/** Collects the words of the name and the linkset of a resource. */
async function putOtherWords(tx: Transaction, { iri, linked }: ResourceRecord, words: Words): Promise<void> {
  const titles = linked === undefined ? '' : titlesText(clientLinks(tx, iri));
  for (const text of [nameText(iri), titles])
    await putText({ iri, place: 'n', text, language: '' }, { put: () => undefined, words, pause: yieldToEventLoop });
}

function wordsBefore(
  tx: Transaction,
  iri: string,
): readonly [graphWords: number, otherWords: number, facts?: string, words?: string] {
  const value = tx.entry(entryKey(wordsSpace, iri));
  if (value === undefined) return [0, 0];
  const end = value.indexOf('\n');
  const [graph, other, facts] = value.slice(0, end).split(' ') as [string, string, string];
  return [Number(graph), Number(other), facts, value.slice(end)];
}

interface WordFacts {
  readonly hasGraph: boolean;
  readonly graphWords: number;
  readonly otherWords: number;
  /** Words, serialized by `Words.written`. */
  readonly words: string;
}

function factEntries(iri: string, { hasGraph, graphWords, otherWords, words }: WordFacts): readonly Entry[] {
  const facts = writeFacts({ hasGraph, words: graphWords + otherWords });
  return [
    [entryKey(wordsSpace, iri), `${graphWords} ${otherWords} ${facts}${words}`],
    [entryKey(documentSpace, iri, facts), ''],
  ];
}

/** Stages the entries of quads in a graph that is not visible, because it is being written or removed. */
async function indexHidden(
  pace: Pace,
  tx: Transaction,
  { iri, added, removed }: KeyDifference & { readonly iri: string },
): Promise<void> {
  const name = tx.entry(stagedKey(iri));
  const loaded = loadedIn(tx, iri);
  const words = new Words(loaded?.name === name ? loaded?.words : '');
  const staged = new Staged(tx, words, pace);
  await staged.changed(iri, { added, removed });
  if (name === undefined || isDropped(name)) {
    if (loaded) tx.deleteEntry(loadKey(iri));
  } else if (added.length > 0) {
    const count = staged.graphWords + (loaded?.name === name ? loaded.count : 0);
    tx.putEntry(loadKey(iri), `${name}\n${count}${words.written(false)}`);
  }
}

/** Returns the words collected for a graph that is being written. `name` identifies the upload. */
function loadedIn(
  tx: Transaction,
  iri: string,
): { readonly name: string; readonly count: number; readonly words: string } | undefined {
  const value = tx.entry(loadKey(iri));
  if (value === undefined) return undefined;
  const [name, count] = value.split('\n', 2) as [string, string];
  return { name, count: Number(count), words: value.slice(name.length + 1 + count.length) };
}

/** Adds the words of a graph that the transaction publishes, and removes their entry. @returns the word count of the graph */
function takeLoaded(
  tx: Transaction,
  { iri, change }: { readonly iri: string; readonly change: GraphChange | undefined },
  words: Words,
): number {
  if (!(change?.keys instanceof PackedKeys) || change.added.length > 0) return 0;
  const loaded = loadedIn(tx, iri);
  if (loaded === undefined || tx.before.entry(stagedKey(iri)) !== loaded.name) return 0;
  tx.deleteEntry(loadKey(iri));
  words.include(loaded.words);
  return loaded.count;
}

type Entry = readonly [key: string, value: string];

/** Yields the entries that the index must have for a resource, in blocks. */
async function* entriesOf(store: Store, record: ResourceRecord): AsyncGenerator<readonly Entry[]> {
  const { iri, kind, linked, triples = 0 } = record;
  let block: Entry[] = [];
  let [graphWords, otherWords, sincePause] = [0, 0, 0];
  const words = new Words();
  const target: EntryTarget = { put: (key, value) => void block.push([key, value]), words, pause: yieldToEventLoop };
  if (kind === 'rdf')
    for await (const keys of store.keys(rangeOf(graphPrefix(iri)))) {
      for (const key of keys) {
        const count = putStatement(iri, key, target);
        const words = typeof count === 'number' ? count : await count;
        graphWords += words;
        sincePause += words;
        if (sincePause < wordsAtATime) continue;
        sincePause = 0;
        await yieldToEventLoop();
      }
      yield block;
      block = [];
    }
  const titles = linked === undefined ? '' : titlesText(clientLinks(store, iri));
  const texts: readonly (readonly [TextPlace, string])[] = [
    ['n', nameText(iri)],
    ['t', titles],
    ['b', await contentText(store.blobs, record)],
  ];
  for (const [place, text] of texts) otherWords += await putText({ iri, place, text, language: '' }, target);
  const facts = { hasGraph: kind === 'rdf', graphWords, otherWords, words: words.written(isLargeGraph(triples)) };
  for (const entry of factEntries(iri, facts)) block.push(entry);
  yield block;
}

/** Version of the format. Includes the Unicode version, which determines where words end. */
const state = `3 ${process.versions['unicode']}`;

export const textIndex = new MaintainedIndex({
  name: 'text index',
  prepare: loadStemmers,
  ...{ stateKey: entryKey('text-state'), state, entriesOf },
  spaces: [textSpace, documentSpace, wordsSpace, subjectSpace, labelSpace, beginningSpace, ownLabelSpace, loadSpace],
  replaced(tx, iri) {
    const facts = wordsBefore(tx, iri)[2];
    if (facts !== undefined) tx.deleteEntry(entryKey(documentSpace, iri, facts));
  },
  isSame: (found, expected) => found === expected || (found !== undefined && hasWords(found, expected)),
});
