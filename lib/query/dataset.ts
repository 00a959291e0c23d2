/** The caller's dataset over one snapshot, and what reads it: the index in memory, or LevelDB. */
import type { Level, LevelSnapshot } from '../storage/engine/durable-level.js';
import type { DatasetGraphs } from './access/graph-gate.js';
import { keyIterators } from './access/key-iterators.js';
import { type QuadMatches, quadMatches } from './access/quad-matches.js';
import { memoryMatches } from './memory/memory-matches.js';
import type { MemoryView } from './memory/memory-view.js';

export interface DatasetOptions extends DatasetGraphs {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  /** The quads of the snapshot in memory, when they are there. */
  readonly memory?: MemoryView | undefined;
}

/** @param assertTime called in every block; throws when the query has to end */
export function matchesOf(dataset: DatasetOptions, assertTime: () => void): QuadMatches {
  const { level, snapshot, memory } = dataset;
  return memory
    ? memoryMatches(dataset, memory, assertTime)
    : quadMatches(dataset, keyIterators(level, snapshot, assertTime));
}
