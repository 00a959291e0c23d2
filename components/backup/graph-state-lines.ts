/**
 * The quads of a storage as lines, graph by graph in the order of what speaks of them: linksets, then records. Graphs whose state is known
 * are not read at all, and neither is a graph that nothing speaks of (it is being written or removed).
 */

import { allRecords } from '../../lib/component/entries.js';
import { GraphCursor } from '../../lib/component/graphs.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../../lib/component/level.js';
import { allLinks } from '../../lib/component/resources.js';
import { graphState, lineOfGraph } from './entries.js';
import type { GraphSet } from './graph-set.js';

const keysAtATime = 1000;

/**
 * @returns some lines at a time, of which there may be none, so that whoever waits can tell how far it is
 * @throws BackupError for a record that is damaged
 */
export async function* graphStateLines(
  level: Level,
  snapshot: LevelSnapshot,
  known: GraphSet | undefined,
): AsyncGenerator<string[]> {
  const cursor = new GraphCursor(level, snapshot);
  try {
    for (const range of [allLinks, allRecords()])
      for await (const entries of entryBlocks(level, range, { snapshot })) {
        let lines: string[] = [];
        for (const entry of entries) {
          const state = graphState(entry);
          if (!state || known?.has(state)) continue;
          lines.push(lineOfGraph(state));
          for await (const keys of cursor.keys(state.graph)) {
            for (const key of keys) lines.push(JSON.stringify(key));
            if (lines.length < keysAtATime) continue;
            yield lines;
            lines = [];
          }
        }
        yield lines;
      }
  } finally {
    await cursor.close();
  }
}
