/** Migrates storages of earlier versions, which stored no graphs for linksets. */

import { partsOfEntry } from '../storage/keys/records.js';
import { entryBlocks, type Level, writeEntries } from '../storage/level/durable-level.js';
import { allLinks, type ClientLinks, linksetGraph } from './linkset.js';

/** Writes the missing graphs of linksets. An interrupted run can be repeated. */
export async function writeLinksetGraphs(level: Level): Promise<void> {
  for await (const entries of entryBlocks(level, allLinks))
    for (const [entry, value] of entries) {
      const keys = linksetGraph(JSON.parse(value) as ClientLinks, partsOfEntry(entry)[1]!);
      if (keys.length === 0 || (await level.hasMany(keys)).every(Boolean)) continue;
      await writeEntries(
        level,
        keys.map((key) => [key, '']),
        [entry, value],
      );
    }
}
