/** Initial states of an update: a snapshot of the store, or one graph in memory. */
import type { Algebra } from '@comunica/utils-algebra';
import { isLargeGraph } from '../storage/graphs/graph-lines.js';
import { type ResourceRecord, readRecord, recordKey } from '../storage/keys/records.js';
import { storedIndexes } from '../storage/transactions/index-backfill.js';
import { changedKeys, type KeyChanges, keyLists } from './access/changed-keys.js';
import { type EmptyGraphs, emptyGraphs } from './access/empty-graphs.js';
import type { DatasetGraphs } from './access/graph-filter.js';
import { type KeyIterators, LevelKeys } from './access/key-iterators.js';
import { KeyMatches, type QuadMatches } from './access/quad-matches.js';
import { type DatasetOptions, keysFor } from './dataset.js';
import { graphBlocks } from './memory/index-data.js';
import { withGraphs } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';
import type { UpdateTarget } from './parse/read-update.js';

export type Opened = Pick<DatasetOptions, 'level' | 'snapshot'>;

/** Facts about a resource. */
export type RecordBefore = Pick<ResourceRecord, 'kind'> & Partial<ResourceRecord>;

/** Changes of an update so far. */
export interface ChangesSoFar {
  readonly changes: KeyChanges;
  /** Changed graphs, each with its current GSPO keys. */
  readonly graphs: ReadonlyMap<string, AsyncIterable<readonly string[]>>;
}

export interface StateBefore {
  record(iri: string): RecordBefore | undefined;
  /** Returns true if the graph has a triple, given as its GSPO key. */
  has(key: string): boolean;
  /** Yields all keys, for one reader. */
  keys(): KeyIterators;
  /** Dataset of a WHERE, with the changes so far. @throws NeedsIndexError as `keysFor` */
  matches(dataset: DatasetGraphs, where: Algebra.Operation, so: ChangesSoFar): Promise<QuadMatches>;
  /** Absent: no graph is empty. */
  emptyGraphs?(dataset: DatasetGraphs): EmptyGraphs;
}

/** @param assertTime called in every block, throws to stop the work */
export const snapshotState = (
  { level, snapshot, memory }: Opened & Pick<DatasetOptions, 'memory'>,
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
    // Closed graphs are not read, so that the duration does not reveal their size.
    await dataset.readable.resolve([...graphs.keys()]);
    const open = new Map([...graphs].filter(([graph]) => dataset.readable.known(graph)));
    return new MemoryMatches(dataset, open.size === 0 ? memory : await withGraphs(memory, open), assertTime);
  },
  emptyGraphs: (dataset) => emptyGraphs({ ...dataset, level, snapshot }, assertTime),
});

/** State of one graph in memory. @param assertTime called in every block, throws to stop the work */
export function graphState(
  { keys, ...record }: RecordBefore & { readonly iri: string; readonly keys: readonly string[] },
  assertTime: () => void,
): StateBefore {
  const added = new Set(keys);
  // Shared by all readers.
  const lists = keyLists(added, assertTime);
  return {
    record: (iri) => (iri === record.iri ? { ...record, triples: keys.length } : undefined),
    has: (key) => added.has(key),
    keys: () => lists,
    matches: async (dataset, _where, { changes }) => new KeyMatches(dataset, changedKeys(lists, changes, assertTime)),
  };
}

/**
 * Returns the state of one graph in a snapshot: in memory, unless it is large and LevelDB has all indexes. `undefined` if it does
 * not exist.
 */
export async function stateOfGraph(
  { level, snapshot }: Opened,
  { graph, entry }: UpdateTarget,
  assertTime: () => void,
): Promise<StateBefore | undefined> {
  const value = entry === undefined ? undefined : level.getSync(entry, { snapshot });
  if (value !== undefined) return graphState({ iri: graph, kind: 'rdf', ...JSON.parse(value) }, assertTime);
  const state = snapshotState({ level, snapshot }, assertTime);
  const record = entry === undefined ? state.record(graph) : undefined;
  if (record?.kind !== 'rdf') return undefined;
  if (isLargeGraph(record.triples ?? 0) && storedIndexes(level, snapshot).isComplete) return state;
  const keys: string[] = [];
  for await (const block of graphBlocks(level, snapshot, graph)) {
    assertTime();
    for (const key of block) keys.push(key);
    if (keys.length === record.triples) break;
  }
  return graphState({ ...record, iri: graph, keys }, assertTime);
}
