/** The states that an update is computed over: a snapshot of the store, one graph in memory, and a graph of which nothing is known. */
import type { Level, LevelSnapshot } from '../storage/engine/durable-level.js';
import { type ResourceRecord, readRecord, recordKey } from '../storage/state/records.js';
import { changedKeys } from './access/changed-keys.js';
import { type EmptyGraphs, emptyGraphs } from './access/empty-graphs.js';
import type { DatasetGraphs } from './access/graph-gate.js';
import { type KeyIterators, keyIterators } from './access/key-iterators.js';

/** What is known of a resource. */
export type RecordBefore = Pick<ResourceRecord, 'kind'> & Partial<ResourceRecord>;

export interface StateBefore {
  record(iri: string): RecordBefore | undefined;
  /** Whether it has a triple, as its GSPO key; `undefined`: nothing is known of the graph. */
  has(key: string): boolean | undefined;
  /** All keys, for one reader. */
  keys(): KeyIterators;
  /** Absent: no graph is without a triple. */
  emptyGraphs?(dataset: DatasetGraphs): EmptyGraphs;
}

/** @param assertTime called in every block; throws when the work has to end */
export const snapshotState = (level: Level, snapshot: LevelSnapshot, assertTime: () => void): StateBefore => ({
  record(iri) {
    const value = level.getSync(recordKey(iri), { snapshot });
    return value === undefined ? undefined : readRecord(iri, value);
  },
  has: (key) => level.getSync(key, { snapshot }) !== undefined,
  keys: () => keyIterators(level, snapshot, assertTime),
  emptyGraphs: (dataset) => emptyGraphs({ ...dataset, level, snapshot }, assertTime),
});

/**
 * The state of one graph.
 * @param graph its IRI, and its GSPO keys
 * @param assertTime called now and then; throws when the work has to end
 */
export function graphState(
  { iri, keys }: { readonly iri: string; readonly keys: readonly string[] },
  assertTime: () => void,
): StateBefore {
  // Over nothing, all keys are added ones; they are sorted in an order when that is first asked for, and stay for all readers.
  const added = new Set(keys);
  const lists = changedKeys(noKeys, { added, removed: new Set() }, assertTime);
  return {
    record: (asked) => (asked === iri ? { kind: 'rdf', triples: keys.length } : undefined),
    has: (key) => added.has(key),
    keys: () => lists,
  };
}

/** A graph of which nothing is known: what an update inserts it may have, and what it removes it may lack. Only data can be changed. */
export const unknownState: StateBefore = {
  record: () => ({ kind: 'rdf' }),
  has: () => undefined,
  keys() {
    throw new Error('Nothing is known of the graph.');
  },
};

async function* nothing(): AsyncGenerator<readonly string[]> {}
const noKeys: KeyIterators = {
  blocks: nothing,
  leaps: nothing,
  steps: nothing,
  lend: (_index, work) => work({ seek() {}, nextv: async () => [], close: async () => {} }),
  hasKey: () => false,
  sizeOf: async () => 0,
  sizeBetween: async () => 0,
  close: async () => {},
};
