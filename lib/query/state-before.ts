/** Initial states of an update: a snapshot of the store, or one graph in memory. */
import type { Algebra } from '@comunica/utils-algebra';
import { type ResourceRecord, readRecord, recordKey } from '../storage/keys/records.js';
import { type EmptyGraphs, emptyGraphs } from './access/empty-graphs.js';
import type { DatasetGraphs } from './access/graph-filter.js';
import type { QuadMatches } from './access/quad-matches.js';
import { type DatasetOptions, matchesOf, namedQuads } from './dataset.js';
import { graphBlocks } from './memory/index-data.js';
import { type GraphKeyBlocks, type MemoryView, onlyGraph, withGraphs } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';
import type { UpdateTarget } from './parse/read-update.js';

export type Opened = Pick<DatasetOptions, 'level' | 'snapshot'>;

/** Facts about a resource. */
export type RecordBefore = Pick<ResourceRecord, 'kind'> & Partial<ResourceRecord>;

export interface StateBefore {
  record(iri: string): RecordBefore | undefined;
  /** Returns true if the graph has a triple, given as its GSPO key. */
  has(key: string): boolean;
  /** Yields the GSPO keys of a graph. */
  keysOf(graph: string): AsyncIterable<readonly string[]>;
  /** Dataset of a WHERE. @param changed the graphs that the update has changed so far @throws NeedsIndexError as `namedQuads` */
  matches(dataset: DatasetGraphs, where: Algebra.Operation, changed: GraphKeyBlocks): Promise<QuadMatches>;
  /** Absent: no graph is empty. */
  emptyGraphs?(dataset: DatasetGraphs): EmptyGraphs;
}

/** @param assertTime called in every block, throws to stop the work */
export const snapshotState = (
  { level, snapshot, memory }: Opened & { readonly memory: MemoryView | undefined },
  assertTime: () => void,
): StateBefore => ({
  record(iri) {
    const value = level.getSync(recordKey(iri), { snapshot });
    return value === undefined ? undefined : readRecord(iri, value);
  },
  has: (key) => level.getSync(key, { snapshot }) !== undefined,
  async *keysOf(graph) {
    for await (const keys of graphBlocks(level, snapshot, graph)) {
      assertTime();
      yield keys;
    }
  },
  async matches(dataset, where, changed) {
    const own = { ...dataset, level, snapshot };
    const before = memory ?? (await namedQuads(own, where, assertTime));
    // Closed graphs are not read, so that the duration does not reveal their size.
    await dataset.readable.resolve([...changed.keys()]);
    const open = new Map([...changed].filter(([graph]) => dataset.readable.known(graph)));
    return matchesOf({ ...own, memory: open.size === 0 ? before : await withGraphs(before, open) }, assertTime);
  },
  emptyGraphs: (dataset) => emptyGraphs({ ...dataset, level, snapshot }, assertTime),
});

/** State of one graph in memory, for a caller that may read it. @param assertTime called in every block, throws to stop the work */
export function graphState(
  { keys, ...record }: RecordBefore & { readonly iri: string; readonly keys: readonly string[] },
  assertTime: () => void,
): StateBefore {
  const all = new Set(keys);
  async function* keysOf(): AsyncGenerator<readonly string[]> {
    yield keys;
  }
  let before: Promise<MemoryView> | undefined;
  return {
    record: (iri) => (iri === record.iri ? { ...record, triples: keys.length } : undefined),
    has: (key) => all.has(key),
    keysOf,
    async matches(dataset, _where, changed) {
      assertTime();
      const now = changed.get(record.iri);
      if (!now) before ??= onlyGraph(record.iri, keysOf());
      return new MemoryMatches(dataset, await (now ? onlyGraph(record.iri, now) : before!), assertTime);
    },
  };
}

/** Returns the state of one graph in a snapshot, in memory. `undefined` if it does not exist. */
export async function stateOfGraph(
  { level, snapshot }: Opened,
  { graph, entry }: UpdateTarget,
  assertTime: () => void,
): Promise<StateBefore | undefined> {
  const value = level.getSync(entry ?? recordKey(graph), { snapshot });
  if (value === undefined) return undefined;
  if (entry !== undefined) return graphState({ iri: graph, kind: 'rdf', ...JSON.parse(value) }, assertTime);
  const record = readRecord(graph, value);
  if (record.kind !== 'rdf') return undefined;
  const keys: string[] = [];
  for await (const block of graphBlocks(level, snapshot, graph)) {
    assertTime();
    for (const key of block) keys.push(key);
    if (keys.length === record.triples) break;
  }
  return graphState({ ...record, keys }, assertTime);
}
