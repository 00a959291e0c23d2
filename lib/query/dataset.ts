/** The caller's dataset over one snapshot, and its access methods: the index, or LevelDB. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Level, LevelSnapshot } from '../storage/level/durable-level.js';
import { storedIndexes } from '../storage/transactions/index-backfill.js';
import { keyLists } from './access/changed-keys.js';
import { type DatasetGraphs, graphFilter, nameOfNone } from './access/graph-filter.js';
import { type KeyIterators, LevelKeys } from './access/key-iterators.js';
import { type AssertTime, KeyMatches, type QuadMatches } from './access/quad-matches.js';
import { graphBlocks } from './memory/index-data.js';
import type { MemoryView } from './memory/memory-layers.js';
import { MemoryMatches } from './memory/memory-matches.js';

export interface DatasetOptions extends DatasetGraphs {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  /** Quads of the snapshot in memory, if available. */
  readonly memory?: MemoryView | undefined;
  /** Source for other reads; absent: LevelDB, which has all indexes. */
  readonly keys?: KeyIterators | undefined;
}

/** The snapshot has one index on disk, and the query needs many graphs: it requires the index. */
export class NeedsIndexError extends Error {}

/** Maximum number of graphs, and of their triples, that are read directly instead of waiting for the index. */
const [fewGraphs, fewTriples] = [8, 50_000];

/**
 * Returns the keys for an operation without the index: those of LevelDB if it has all indexes, or those of the
 * operation's graphs.
 * @throws NeedsIndexError
 */
export async function keysFor(
  { level, snapshot, ...dataset }: DatasetOptions,
  operation: Algebra.Operation,
  assertTime: () => void,
): Promise<KeyIterators> {
  if (storedIndexes(level, snapshot).isComplete) return new LevelKeys(level, snapshot, assertTime);
  const names = new Set([...(dataset.defaultGraphs ?? []), ...(dataset.namedGraphs ?? [])]);
  const isNamed = dataset.defaultGraphs && dataset.namedGraphs ? true : namesGraphs(operation, names);
  if (!isNamed || names.size > fewGraphs) throw new NeedsIndexError();
  const gate = graphFilter({ readable: dataset.readable }, 'named');
  await gate.decide(names);
  const found = new Set<string>();
  for (const name of names) {
    const graph = gate.isOpen(name) ? name : nameOfNone(name);
    for await (const keys of graphBlocks(level, snapshot, graph)) {
      assertTime();
      for (const key of keys) found.add(key);
      if (found.size > fewTriples) throw new NeedsIndexError();
    }
  }
  return keyLists(found, assertTime);
}

/** Returns true if every pattern names its graph. @param names receives these graphs */
function namesGraphs(part: unknown, names: Set<string>): boolean {
  if (typeof part !== 'object' || part === null) return true;
  if (Array.isArray(part)) return part.every((each) => namesGraphs(each, names));
  const { type, graph, ...parts } = part as { type?: string; graph?: { termType: string; value: string } };
  if (type === 'describe') return false;
  // SERVICE is evaluated by another endpoint.
  if (type === 'service') return true;
  if (type === 'pattern' || type === 'path') {
    if (graph?.termType !== 'NamedNode') return false;
    names.add(graph.value);
    return true;
  }
  if ('termType' in part) return true;
  return Object.entries(parts).every(([name, each]) => name === 'template' || namesGraphs(each, names));
}

/** @param assertTime called in every block, throws to stop the query */
export function matchesOf(dataset: DatasetOptions, assertTime: AssertTime): QuadMatches {
  const { level, snapshot, memory, keys } = dataset;
  return memory
    ? new MemoryMatches(dataset, memory, assertTime)
    : new KeyMatches(dataset, keys ?? new LevelKeys(level, snapshot, assertTime));
}
