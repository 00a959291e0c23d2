/** Maintains the index: updates it in every transaction, and rebuilds it from all records and graphs. */
import { LwsError } from '../../lib/errors.js';
import { changesLinks, clientLinks } from '../../lib/resources/metadata.js';
import { subjectRange } from '../../lib/storage/graphs/committed-graphs.js';
import { isLargeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { type GraphChange, overlay } from '../../lib/storage/keys/graph-changes.js';
import { PackedKeys } from '../../lib/storage/keys/graph-keys.js';
import { entryKey, entryRange, type ResourceRecord } from '../../lib/storage/keys/records.js';
import { type KeySource, statementReader } from '../../lib/storage/keys/subject-statements.js';
import { countRecords, recordBlocks } from '../../lib/storage/level/all-records.js';
import { yieldToEventLoop } from '../../lib/storage/transactions/batch-filling.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { currentState, entriesOf, ownedSpace, postingSpace, relationOf, stateKey, typeRelation } from './postings.js';

/**
 * Stages the index changes of a partial update.
 * @returns false if the whole graph must be read: when types change, because the owner's list contains all types of a resource,
 * and when a statement is removed, because another one may have the same posting
 */
export async function indexPart(tx: Transaction, before: ResourceRecord, after: ResourceRecord): Promise<boolean> {
  const { iri } = after;
  const change = tx.graphs.get(iri);
  if (!change?.isPart || before.owner !== after.owner || changesLinks(tx, iri)) return false;
  const read = statementReader(iri);
  const [added, removed] = [postingsOf(iri, change.added, read), postingsOf(iri, change.removed, read)];
  const links = after.linked === undefined ? {} : clientLinks(tx, iri);
  const linked = await entriesOf({ record: after, keys: [], links });
  for (const key of removed.keys()) if (!added.has(key) && !linked.has(key)) return false;
  const fresh = [...added].filter(([key]) => tx.entry(key) === undefined);
  if (fresh.some(([, relation]) => relation === typeRelation)) return false;
  for (const [key] of fresh) tx.putEntry(key, '');
  return true;
}

function postingsOf(
  iri: string,
  keys: readonly string[],
  read: ReturnType<typeof statementReader>,
): Map<string, string> {
  const found = new Map<string, string>();
  for (const key of keys) {
    const statement = read(key);
    const relation = statement && relationOf(statement);
    if (!statement || relation === undefined) continue;
    found.set(entryKey(postingSpace, relation, statement[1], iri), relation);
  }
  return found;
}

/** Stages the index changes of a transaction, so that every acknowledged write is found, also after a crash. */
export async function indexChanges(tx: Transaction): Promise<void> {
  let count = 0;
  for (const { before, after } of tx.changes) {
    // An import changes a thousand resources per transaction.
    if (++count % changesAtATime === 0) await yieldToEventLoop();
    if (before && after && !(await concernsIndex(tx, before, after))) continue;
    if (before && after && (await indexPart(tx, before, after))) continue;
    const old = before ? await entriesBefore(tx, before) : none;
    const fresh = after ? await entriesAfter(tx, before, after) : none;
    assertFewTypes(fresh);
    for (const key of old.keys()) if (!fresh.has(key)) tx.deleteEntry(key);
    for (const [key, value] of fresh) if (old.get(key) !== value) tx.putEntry(key, value);
  }
}

/** Maximum types of a resource: the type index lists each of them to all callers. */
const maxTypes = 10_000;
const ofType = `${entryKey(postingSpace, typeRelation)}\u0000`;

/** @throws LwsError `unsupported-rdf` for a resource with more types */
function assertFewTypes(entries: ReadonlyMap<string, string>): void {
  if (entries.size <= maxTypes) return;
  let types = 0;
  for (const key of entries.keys()) if (key.startsWith(ofType)) types++;
  if (types > maxTypes)
    throw new LwsError('unsupported-rdf', `The resource would have ${types} types. The maximum is ${maxTypes}.`);
}

/** Returns true if an update changes the index. Most updates change literals only. */
async function concernsIndex(tx: Transaction, before: ResourceRecord, after: ResourceRecord): Promise<boolean> {
  if (before.kind !== after.kind || before.owner !== after.owner || changesLinks(tx, after.iri)) return true;
  const change = tx.graphs.get(after.iri);
  if (!change) return false;
  const read = statementReader(after.iri);
  for (const keys of [change.added, change.removed])
    for (const [at, key] of keys.entries()) {
      if (read(key)) return true;
      if (at % keysAtATime === keysAtATime - 1) await yieldToEventLoop();
    }
  return false;
}

const changesAtATime = 64;
const none: ReadonlyMap<string, string> = new Map();

/** Returns the entries for the state before the transaction. Earlier links are read from disk and from pending commits. */
async function entriesBefore(tx: Transaction, record: ResourceRecord): Promise<ReadonlyMap<string, string>> {
  const keys = tx.graphs.get(record.iri)?.before ?? (await graphOf(tx, record));
  const links = record.linked === undefined ? {} : clientLinks(tx.before, record.iri);
  return entriesOf({ record, keys, links });
}

async function entriesAfter(
  tx: Transaction,
  before: ResourceRecord | undefined,
  record: ResourceRecord,
): Promise<ReadonlyMap<string, string>> {
  const change = tx.graphs.get(record.iri);
  const keys = change ? keysAfter(tx, record, change) : before ? await graphOf(tx, before) : [];
  const links = record.linked === undefined ? {} : clientLinks(tx, record.iri);
  return entriesOf({ record, keys, links });
}

const graphOf = async (tx: Transaction, record: ResourceRecord): Promise<KeySource> => {
  if (record.kind !== 'rdf') return [];
  // Of a large graph, only the subjects that start with the IRI of the resource are read.
  return isLargeGraph(record.triples ?? 0) ? tx.before.graphBlocks(record, record.iri) : tx.before.graph(record);
};

function keysAfter(tx: Transaction, record: ResourceRecord, change: GraphChange): KeySource {
  if (change.isPart) return overlay(tx.before.graphBlocks(record, record.iri), [change]);
  const { keys = [] } = change;
  return keys instanceof PackedKeys ? keys.blocks() : keys;
}

const keysAtATime = 5_000;
const resourcesAtATime = 200;

/** True if the index is complete. Otherwise it must be rebuilt before use. */
export const isComplete = (store: Store): boolean => store.entry(stateKey) === currentState;

/** Marks the index as outdated while it is switched off. */
export async function abandon(store: Store): Promise<void> {
  if (store.entry(stateKey) !== undefined) await store.transact((tx) => tx.deleteEntry(stateKey), { frees: true });
}

/**
 * Rebuilds the index from records, graphs and linksets, without concurrent writers. If interrupted, the next start begins again.
 * @returns the number of indexed resources
 */
export async function rebuild(store: Store, progress: (done: number, total: number) => void): Promise<number> {
  await abandon(store);
  for (const space of [postingSpace, ownedSpace]) await clear(store, space);
  const total = await countRecords(store);
  let done = 0;
  for await (const records of recordBlocks(store)) {
    for (let at = 0; at < records.length; at += resourcesAtATime) {
      const slice = records.slice(at, at + resourcesAtATime);
      await store.transact(async (tx) => {
        for (const record of slice)
          for (const [key, value] of await entriesAfter(tx, record, record)) tx.putEntry(key, value);
      });
      done += slice.length;
      progress(done, total);
    }
  }
  await store.transact((tx) => tx.putEntry(stateKey, currentState));
  return done;
}

async function clear(store: Store, space: string): Promise<void> {
  for (;;) {
    const keys: string[] = [];
    for await (const entries of store.entries(entryRange(space))) {
      for (const [key] of entries) keys.push(key);
      if (keys.length >= keysAtATime) break;
    }
    if (keys.length === 0) return;
    const work = (tx: Transaction): void => {
      for (const key of keys) tx.deleteEntry(key);
    };
    await store.transact(work, { frees: true });
  }
}

const keysOf = async (store: Store, { iri, kind, triples = 0 }: ResourceRecord): Promise<KeySource> => {
  if (kind !== 'rdf') return [];
  return isLargeGraph(triples) ? store.keys(subjectRange(iri, iri)) : ((await store.graph(iri))?.keys ?? []);
};

/** The types of an owned resource may be in any order. */
const isSame = (found: string | undefined, expected: string): boolean =>
  found === expected || (found !== undefined && expected !== '' && sorted(found) === sorted(expected));
const sorted = (types: string): string => JSON.stringify((JSON.parse(types) as string[]).sort());

/** Compares the index with its sources. @returns one sentence for each fault */
export async function* faultsOf(store: Store): AsyncGenerator<string> {
  if (!isComplete(store)) return;
  let expected = 0;
  for await (const records of recordBlocks(store))
    for (const record of records) {
      const keys = await keysOf(store, record);
      for (const [key, value] of await entriesOf({ record, keys, links: clientLinks(store, record.iri) })) {
        expected++;
        if (!isSame(store.entry(key), value)) yield `The index lacks ${JSON.stringify(key)}.`;
      }
    }
  let found = 0;
  for (const space of [postingSpace, ownedSpace])
    for await (const entries of store.entries(entryRange(space))) found += entries.length;
  if (found !== expected) yield `The index has ${found} entries instead of ${expected}.`;
}
