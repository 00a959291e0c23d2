/** Maintains the text index: updates it in every transaction, and defines its entries for `rebuild` and `check`. */
import { LwsError } from '../../lib/errors.js';
import { MaintainedIndex } from '../../lib/postings/maintained-index.js';
import { changesLinks, clientLinks } from '../../lib/resources/metadata.js';
import { isLargeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { hiddenRange, stagedKey } from '../../lib/storage/graphs/staged-keys.js';
import type { GraphChange, KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { allOf, PackedKeys } from '../../lib/storage/keys/graph-keys.js';
import { graphPrefix } from '../../lib/storage/keys/quad-keys.js';
import { entryKey, partsOfEntry, type ResourceRecord, rangeOf } from '../../lib/storage/keys/records.js';
import type { ResourceChange } from '../../lib/storage/log/changes.js';
import { yieldToEventLoop } from '../../lib/storage/transactions/batch-filling.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { contentText, hasText, nameText, titlesText } from './content.js';
import {
  documentSpace,
  putStatement,
  putText,
  subjectSpace,
  type Target,
  type TextPlace,
  textSpace,
  wordsSpace,
  writeFacts,
} from './entries.js';
import { beginningSpace, labelSpace } from './label-entries.js';
import { loadStemmers } from './stems.js';
import { hasWords, Words } from './vocabulary.js';

/** Words of a large graph that is being written: the value names the upload. Key layout: `text-load`, resource. */
const loadSpace = 'text-load';
const loadKey = (iri: string): string => entryKey(loadSpace, iri);

/**
 * Statements between two turns of the event loop, and maximum entries of a transaction: each takes about 300 bytes. A graph has
 * no more words, so that it can be deleted, unless it is large: that is written and removed in slices.
 */
const [statementsAtATime, maxEntries] = [500, 500_000];

/** @throws LwsError `too-large` */
function assertFew(words: number): void {
  if (words > maxEntries)
    throw new LwsError(
      'too-large',
      `The request changes more than ${maxEntries} entries of the text index. Split the resource, or the request.`,
    );
}

/** Stages entries of texts, and counts the change of the number of words. */
class Staged {
  graphWords = 0;
  otherWords = 0;
  private statements = 0;

  private readonly added: Target;
  private readonly removed: Target;

  /** @param words receives the words of added texts */
  constructor(
    private readonly tx: Transaction,
    words: Words,
  ) {
    this.added = { put: (key, value) => void tx.postings.set(key, value), words };
    this.removed = { put: (key) => void tx.postings.set(key, null) };
  }

  /** @throws LwsError `too-large` if a transaction changes too much text, unless `isBounded` */
  async changed(iri: string, { added = [], removed = [] }: Partial<KeyDifference>, isBounded = false): Promise<void> {
    for (const [keys, target, sign] of [
      [removed, this.removed, -1],
      [added, this.added, 1],
    ] as const)
      for (const key of keys) {
        this.graphWords += sign * putStatement(iri, key, target);
        if (++this.statements % statementsAtATime !== 0) continue;
        if (!isBounded) assertFew(this.tx.postings.size);
        await yieldToEventLoop();
      }
  }

  /** @param text empty for none */
  text(isAdded: boolean, place: { readonly iri: string; readonly place: TextPlace }, text: string): void {
    if (text === '') return;
    const words = putText({ ...place, text, language: '' }, isAdded ? this.added : this.removed);
    this.otherWords += isAdded ? words : -words;
    assertFew(this.tx.postings.size);
  }
}

/** Stages the index changes of a transaction, so that every acknowledged write is found, also after a crash. */
export async function indexTexts(store: Store, tx: Transaction): Promise<void> {
  for (const [iri, difference] of tx.hidden) await indexHidden(tx, iri, difference);
  for (const change of tx.changes) await indexChange(store, tx, change);
}

async function indexChange({ blobs }: Store, tx: Transaction, { before, after }: ResourceChange): Promise<void> {
  const { iri } = (after ?? before)!;
  const change = tx.graphs.get(iri);
  const [graphWords, otherWords, factsThen, wordsThen] = wordsBefore(tx, iri);
  // Words of removed texts stay until all texts are replaced, because other texts may have them.
  const isReplaced =
    (before?.triples ?? 0) === (change?.removed.length ?? 0) &&
    (before?.blob === undefined || before.blob !== after?.blob);
  const words = new Words(!after || isReplaced ? '' : wordsThen);
  const staged = new Staged(tx, words);
  // Removals first: an entry that is removed and added remains.
  if (before?.blob !== undefined && before.blob !== after?.blob && hasText(before))
    staged.text(false, { iri, place: 'b' }, await contentText(blobs, before));
  if (before?.linked !== undefined && (!after || changesLinks(tx, iri)))
    staged.text(false, { iri, place: 't' }, titlesText(clientLinks(tx.before, iri)));
  if (!after) staged.text(false, { iri, place: 'n' }, nameText(iri));
  if (change) await staged.changed(iri, change, !change.keys && !change.isPart);
  if (!before) staged.text(true, { iri, place: 'n' }, nameText(iri));
  if (after?.linked !== undefined && (!before || changesLinks(tx, iri)))
    staged.text(true, { iri, place: 't' }, titlesText(clientLinks(tx, iri)));
  if (after?.blob !== undefined && before?.blob !== after.blob && hasText(after))
    staged.text(true, { iri, place: 'b' }, await contentText(blobs, after));
  if (factsThen !== undefined) tx.deleteEntry(entryKey(documentSpace, iri, factsThen));
  if (!after) return tx.deleteEntry(entryKey(wordsSpace, iri));
  if (isReplaced && before) putOtherWords(tx, after, words);
  const isDropped = change !== undefined && !change.keys && !change.isPart;
  const inGraph = isDropped ? 0 : graphWords + staged.graphWords + loadedWords(tx, iri, change);
  if (isPublished(change) && !isLargeGraph(change.keys.length))
    for (const key of allOf(change.keys)) putStatement(iri, key, { put: () => undefined, words });
  if (change && !isLargeGraph(change.triples.after)) assertFew(inGraph);
  const hasGraph = after.kind === 'rdf';
  const counts = { hasGraph, graphWords: inGraph, otherWords: otherWords + staged.otherWords };
  const facts = { ...counts, words: words.written(isLargeGraph(after.triples ?? 0)) };
  for (const [key, value] of factEntries(iri, facts)) tx.putEntry(key, value);
}

/** Collects the words of the name and the linkset of a resource. */
function putOtherWords(tx: Transaction, { iri, linked }: ResourceRecord, words: Words): void {
  const titles = linked === undefined ? '' : titlesText(clientLinks(tx, iri));
  for (const text of [nameText(iri), titles])
    putText({ iri, place: 'n', text, language: '' }, { put: () => undefined, words });
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
  /** From `Words.written`. */
  readonly words: string;
}

function factEntries(iri: string, { hasGraph, graphWords, otherWords, words }: WordFacts): readonly Entry[] {
  const facts = writeFacts({ hasGraph, words: graphWords + otherWords });
  return [
    [entryKey(wordsSpace, iri), `${graphWords} ${otherWords} ${facts}${words}`],
    [entryKey(documentSpace, iri, facts), ''],
  ];
}

/** Stages the entries of quads of a large graph that is not visible: it is being written or removed. */
async function indexHidden(tx: Transaction, iri: string, { added, removed }: KeyDifference): Promise<void> {
  const staged = new Staged(tx, new Words());
  await staged.changed(iri, { added, removed });
  const name = tx.entry(stagedKey(iri));
  if (name === undefined || added.length === 0) return;
  const [last, words] = tx.entry(loadKey(iri))?.split('\n') ?? [];
  tx.putEntry(loadKey(iri), `${name}\n${staged.graphWords + (last === name ? Number(words) : 0)}`);
}

const isPublished = (change: GraphChange | undefined): change is GraphChange & { readonly keys: PackedKeys } =>
  change?.keys instanceof PackedKeys && change.added.length === 0;

/** Returns the number of words of a graph that the transaction publishes, and removes its count. */
function loadedWords(tx: Transaction, iri: string, change: GraphChange | undefined): number {
  if (!isPublished(change)) return 0;
  const [name, count] = tx.entry(loadKey(iri))?.split('\n') ?? [];
  if (name === undefined || tx.before.entry(stagedKey(iri)) !== name) return 0;
  tx.deleteEntry(loadKey(iri));
  return Number(count);
}

type Entry = readonly [key: string, value: string];

/** Yields the entries of a resource, in blocks. */
async function* entriesOf(store: Store, record: ResourceRecord): AsyncGenerator<readonly Entry[]> {
  const { iri, kind, linked, triples = 0 } = record;
  let block: Entry[] = [];
  let [graphWords, otherWords] = [0, 0];
  const words = new Words();
  const target: Target = { put: (key, value) => void block.push([key, value]), words };
  if (kind === 'rdf')
    for await (const keys of store.keys(rangeOf(graphPrefix(iri)))) {
      for (const key of keys) graphWords += putStatement(iri, key, target);
      yield block;
      block = [];
    }
  const titles = linked === undefined ? '' : titlesText(clientLinks(store, iri));
  const texts: readonly (readonly [TextPlace, string])[] = [
    ['n', nameText(iri)],
    ['t', titles],
    ['b', await contentText(store.blobs, record)],
  ];
  for (const [place, text] of texts) otherWords += putText({ iri, place, text, language: '' }, target);
  const facts = { hasGraph: kind === 'rdf', graphWords, otherWords, words: words.written(isLargeGraph(triples)) };
  for (const entry of factEntries(iri, facts)) block.push(entry);
  yield block;
}

/** Postings also depend on the version of Unicode that words are found by. */
const state = `2 ${process.versions['unicode']}`;

export const textIndex = new MaintainedIndex({
  name: 'text index',
  prepare: loadStemmers,
  ...{ stateKey: entryKey('text-state'), state, entriesOf },
  spaces: [textSpace, documentSpace, wordsSpace, subjectSpace, labelSpace, beginningSpace],
  isSame: (found, expected) => found === expected || (found !== undefined && hasWords(found, expected)),
  async ignored(store) {
    const staged = new Set<string>();
    for await (const entries of store.entries(hiddenRange))
      for (const [key] of entries) staged.add(partsOfEntry(key)[1]!);
    return staged.size === 0 ? undefined : (key) => partsOfEntry(key).some((part) => staged.has(part));
  },
});
