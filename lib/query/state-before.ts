/** The states that an update is computed over: a snapshot of the store, one graph in memory, and a graph of which nothing is known. */
import type { Algebra } from '@comunica/utils-algebra';
import { type ResourceRecord, readRecord, recordKey } from '../storage/keys/records.js';
import { changedKeys, type KeyChanges, keyLists } from './access/changed-keys.js';
import { type EmptyGraphs, emptyGraphs } from './access/empty-graphs.js';
import type { DatasetGraphs } from './access/graph-filter.js';
import { type KeyIterators, LevelKeys } from './access/key-iterators.js';
import { KeyMatches, type QuadMatches } from './access/quad-matches.js';
import { type DatasetOptions, keysFor } from './dataset.js';
import { withGraphs } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';

/** What is known of a resource. */
export type RecordBefore = Pick<ResourceRecord, 'kind'> & Partial<ResourceRecord>;

/** What an update has changed so far. */
export interface ChangesSoFar {
  readonly changes: KeyChanges;
  /** The graphs that it has changed, each with the GSPO keys that it has now. */
  readonly graphs: ReadonlyMap<string, AsyncIterable<readonly string[]>>;
}

export interface StateBefore {
  record(iri: string): RecordBefore | undefined;
  /** Whether it has a triple, as its GSPO key; `undefined`: nothing is known of the graph. */
  has(key: string): boolean | undefined;
  /** All keys, for one reader. */
  keys(): KeyIterators;
  /** What a WHERE finds, with what was changed so far. @throws NeedsIndexError as `keysFor` */
  matches(dataset: DatasetGraphs, where: Algebra.Operation, so: ChangesSoFar): Promise<QuadMatches>;
  /** Absent: no graph is without a triple. */
  emptyGraphs?(dataset: DatasetGraphs): EmptyGraphs;
}

/** @param assertTime called in every block; throws when the work has to end */
export const snapshotState = (
  { level, snapshot, memory }: Pick<DatasetOptions, 'level' | 'snapshot' | 'memory'>,
  assertTime: () => void,
): StateBefore => ({
  record(iri) {
    const value = level.getSync(recordKey(iri), { snapshot });
    return value === undefined ? undefined : readRecord(iri, value);
  },
  has: (key) => level.getSync(key, { snapshot }) !== undefined,
  keys: () => new LevelKeys(level, snapshot, assertTime),
  async matches(dataset, where, { changes, graphs }) {
    if (!memory) {
      const keys = await keysFor({ ...dataset, level, snapshot }, where, assertTime);
      return new KeyMatches(dataset, changedKeys(keys, changes, assertTime));
    }
    // What is closed is not looked at, so that its size does not show.
    await dataset.readable.resolve([...graphs.keys()]);
    const open = new Map([...graphs].filter(([graph]) => dataset.readable.known(graph)));
    return new MemoryMatches(dataset, open.size === 0 ? memory : await withGraphs(memory, open), assertTime);
  },
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
  const added = new Set(keys);
  // For all readers.
  const lists = keyLists(added, assertTime);
  return {
    record: (asked) => (asked === iri ? { kind: 'rdf', triples: keys.length } : undefined),
    has: (key) => added.has(key),
    keys: () => lists,
    matches: async (dataset, _where, { changes }) => new KeyMatches(dataset, changedKeys(lists, changes, assertTime)),
  };
}

/** A graph of which nothing is known: what an update inserts it may have, and what it removes it may lack. Only data can be changed. */
export const unknownState: StateBefore = {
  record: () => ({ kind: 'rdf' }),
  has: () => undefined,
  keys: unknown,
  matches: unknown,
};

function unknown(): never {
  throw new Error('Nothing is known of the graph.');
}
