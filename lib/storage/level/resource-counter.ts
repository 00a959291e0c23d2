/**
 * Counter of the resources of a store. Every batch writes it, together with the name of the batch. Earlier versions and
 * restores do not write it, so that an outdated counter is detected.
 */
import { allRecords, metaKey } from '../keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot, putSynced } from './durable-level.js';

/** Returns the entry of the counter for a batch. @param batch name of the batch */
export const resourceCounter = (resources: number, batch: string): readonly [key: string, value: string] => [
  metaKey('resources'),
  `${resources} ${batch}`,
];

/** Returns the count after the last batch; `NaN` if that batch did not write it. */
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
