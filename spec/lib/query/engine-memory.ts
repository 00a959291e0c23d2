/** In-memory datasets for specs of the query engine: an index of an earlier state, and later changes. */
import { indexOf, readQuads } from '../../../lib/query/memory/index-data.js';
import { MemoryLayers, type MemoryView } from '../../../lib/query/memory/memory-layers.js';
import type { Level, LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { graphNames } from './engine-dataset.js';

/** Snapshot in memory in which some graphs have changed since the index was built. */
export async function inMemory(
  level: Level,
  snapshot: LevelSnapshot,
  changed: readonly string[],
  older: LevelSnapshot = snapshot,
): Promise<MemoryView> {
  const layers = new MemoryLayers();
  const read = await readQuads(level, older, { most: 1_000_000 });
  const data = read && indexOf(read);
  layers.use({ version: 1, sequence: 0, data: data! });
  const graphs = changed.map((graph, index) => [graph, index + 1] as const);
  return (await layers.view({ version: 1, sequence: changed.length }, { graphs, unsettled: [] }, level, snapshot))!;
}

/** Two of the graphs have changed. */
export const halfInMemory = (level: Level, snapshot: LevelSnapshot): Promise<MemoryView> =>
  inMemory(level, snapshot, [graphNames[1]!, graphNames[2]!]);
