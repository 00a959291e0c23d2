/** Datasets in the index for specs of the query engine: an index of an earlier state, and later changes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IndexData, indexOf, readQuads } from '../../../lib/query/memory/index-data.js';
import { MemoryLayers, type MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { SegmentRun } from '../../../lib/query/memory/segment-run.js';
import { openSegment } from '../../../lib/query/segments/segment.js';
import { allQuads } from '../../../lib/storage/keys/quad-keys.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { graphNames } from './engine-dataset.js';

type ToIndex = (level: Level, snapshot: LevelSnapshot) => Promise<IndexData>;

const sortedArrays: ToIndex = async (level, snapshot) =>
  indexOf((await readQuads(keyBlocks(level, allQuads, { snapshot }), { most: 1_000_000 }))!);

/** Directory of the files, and their number. */
let folder: string | undefined;
let files = 0;

/** Index in a file of which no page is in memory. */
export const inFiles: ToIndex = async (level, snapshot) => {
  if (!folder) {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-files-'));
    process.once('exit', () => rmSync(folder!, { recursive: true, force: true }));
  }
  const run = new SegmentRun();
  for await (const keys of keyBlocks(level, allQuads, { snapshot })) for (const key of keys) run.add(key);
  return openSegment(run.write(join(folder, `${files++}.seg`), { graphs: [] }), 0);
};

/** Snapshot in the index in which some graphs have changed since the index was built. */
export async function inMemory(
  level: Level,
  snapshot: LevelSnapshot,
  changed: readonly string[],
  { older = snapshot, toIndex = sortedArrays }: { readonly older?: LevelSnapshot; readonly toIndex?: ToIndex } = {},
): Promise<MemoryView> {
  const layers = new MemoryLayers();
  layers.use({ version: 1, sequence: 0, data: await toIndex(level, older) });
  const graphs = changed.map((graph, index) => [graph, index + 1] as const);
  layers.record({ graphs, unsettled: [] });
  return (await layers.view({ version: 1, sequence: changed.length }, [], { level, snapshot }))!;
}

/** Two of the graphs have changed. */
export const halfInMemory = (level: Level, snapshot: LevelSnapshot): Promise<MemoryView> =>
  inMemory(level, snapshot, [graphNames[1]!, graphNames[2]!]);
export const halfInFiles = (level: Level, snapshot: LevelSnapshot): Promise<MemoryView> =>
  inMemory(level, snapshot, [graphNames[1]!, graphNames[2]!], { toIndex: inFiles });
