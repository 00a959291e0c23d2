/** Maintains the type index: updates it in every transaction, and defines its entries for `rebuild` and `check`. */

import { changesLinks, clientLinks } from '../../../lib/resources/metadata.js';
import { subjectRange } from '../../../lib/storage/graphs/committed-graphs.js';
import { isLargeGraph } from '../../../lib/storage/graphs/graph-lines.js';
import { type GraphChange, overlay } from '../../../lib/storage/keys/graph-changes.js';
import { PackedKeys } from '../../../lib/storage/keys/graph-keys.js';
import { entryKey, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { type KeySource, statementReader } from '../../../lib/storage/keys/subject-statements.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { MaintainedIndex } from '../postings/maintained-index.js';
import { currentState, entriesOf, ownedSpace, postingSpace, relationOf, stateKey, typeRelation } from './postings.js';

/**
 * Stages the index changes of a partial update of a graph.
 * @returns false if the whole graph must be read: if types change, because the owner's entry contains all types of a resource;
 * or if a statement is removed, because another statement may have the same posting
 */
async function indexPart(tx: Transaction, before: ResourceRecord, after: ResourceRecord): Promise<boolean> {
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

/** Stages the index changes of a transaction, so that searches find every acknowledged write, also after a crash. */
export async function indexChanges(tx: Transaction): Promise<void> {
  let count = 0;
  for (const { before, after } of tx.changes) {
    // An import changes up to a thousand resources per transaction: yield to the event loop.
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

/** Maximum types of a resource, because the type index lists each type to all callers. */
const maxTypes = 10_000;
const ofType = `${entryKey(postingSpace, typeRelation)}\u0000`;

/** Asserts the maximum of types. @throws LwsError `unsupported-rdf` */
function assertFewTypes(entries: ReadonlyMap<string, string>): void {
  if (entries.size <= maxTypes) return;
  let types = 0;
  for (const key of entries.keys()) if (key.startsWith(ofType)) types++;
  if (types > maxTypes)
    throw new LwsError('unsupported-rdf', `The resource would have ${types} types. The maximum is ${maxTypes}.`);
}

/** Returns true if an update changes the index. Most updates only change literals, which are not indexed. */
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

/** Returns the entries before the transaction. Earlier links are read from disk and from pending commits. */
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
  // For a large graph, read only the subjects that start with the IRI of the resource.
  return isLargeGraph(record.triples ?? 0) ? tx.before.graphBlocks(record, record.iri) : tx.before.graph(record);
};

function keysAfter(tx: Transaction, record: ResourceRecord, change: GraphChange): KeySource {
  if (change.isPart) return overlay(tx.before.graphBlocks(record, record.iri), [change]);
  const { keys = [] } = change;
  return keys instanceof PackedKeys ? keys.blocks() : keys;
}

const keysAtATime = 5_000;

const keysOf = async (store: Store, { iri, kind, triples = 0 }: ResourceRecord): Promise<KeySource> => {
  if (kind !== 'rdf') return [];
  return isLargeGraph(triples) ? store.keys(subjectRange(iri, iri)) : ((await store.graph(iri))?.keys ?? []);
};

/** Returns the types in a fixed order, for comparison: an owner's entry can have the types in any order. */
const sorted = (types: string): string => JSON.stringify((JSON.parse(types) as string[]).sort());

export const typeIndex = new MaintainedIndex({
  ...{ name: 'type index', stateKey, state: currentState, spaces: [postingSpace, ownedSpace] },
  async *entriesOf(store, record) {
    yield await entriesOf({ record, keys: await keysOf(store, record), links: clientLinks(store, record.iri) });
  },
  isSame: (found, expected) =>
    found === expected || (found !== undefined && expected !== '' && sorted(found) === sorted(expected)),
});
