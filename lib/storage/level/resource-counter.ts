/**
 * Number of resources of a store, written with every batch under the name of the batch: earlier versions write batches without it,
 * and restored stores lack it.
 */
import { allRecords, metaKey } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot, putSynced } from './durable-level.js';

/** Returns the entry for the batch with this name. */
export const resourceCounter = (resources: number, batch: string): readonly [key: string, value: string] => [
  metaKey('resources'),
  `${resources} ${batch}`,
];

/** Returns the number after the last batch; `NaN` if that batch did not write it. */
export function countedResources(level: Level, snapshot?: LevelSnapshot): number {
  const read = (name: 'batch' | 'resources'): string | undefined =>
    level.getSync(metaKey(name), snapshot ? { snapshot } : {});
  const counter = read('resources');
  const count = Number(counter?.split(' ', 1)[0]);
  return counter === resourceCounter(count, read('batch') ?? '')[1] ? count : Number.NaN;
}

/** Counts the records of a store without a valid counter. */
export async function countResources(level: Level): Promise<void> {
  if (!Number.isNaN(countedResources(level))) return;
  let resources = 0;
  for await (const keys of keyBlocks(level, allRecords())) resources += keys.length;
  await putSynced(level, ...resourceCounter(resources, (await level.get(metaKey('batch'))) ?? ''));
}
