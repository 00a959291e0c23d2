/**
 * The quads of a storage as lines, graph by graph in the order of what speaks of them: linksets, then records. Graphs whose state is known
 * are not read at all, and neither is a graph that nothing speaks of (it is being written or removed). It must not know files.
 */
import { allLinks } from '../../lib/resources/linkset-graph.js';
import { block, entryBlocks, type Level, type LevelSnapshot } from '../../lib/storage/durable-level.js';
import { graphPrefix, indexNames } from '../../lib/storage/quad-keys.js';
import { allRecords, rangeOf } from '../../lib/storage/records.js';
import { graphState, lineOfGraph } from './entries.js';
import type { GraphSet } from './graph-set.js';

const keysAtATime = 1000;

/**
 * @returns some lines at a time, of which there may be none, so that whoever waits can tell how far it is
 * @throws BackupError for a record that is damaged
 */
export async function* graphLines(
  level: Level,
  snapshot: LevelSnapshot,
  known: GraphSet | undefined,
): AsyncGenerator<string[]> {
  const quads = level.keys({ ...rangeOf(`${indexNames[0]}\u0000`), snapshot, ...block });
  try {
    for (const range of [allLinks, allRecords()])
      for await (const entries of entryBlocks(level, range, { snapshot })) {
        let lines: string[] = [];
        for (const entry of entries) {
          const state = graphState(entry);
          if (!state || known?.has(state)) continue;
          lines.push(lineOfGraph(state));
          const prefix = graphPrefix(state.graph);
          quads.seek(prefix);
          for (let isWithin = true; isWithin; ) {
            // One more than there are tells that they end.
            const keys = await quads.nextv(Math.min(keysAtATime, (state.triples ?? 7) + 1));
            const end = keys.findIndex((key) => !key.startsWith(prefix));
            for (const key of end < 0 ? keys : keys.slice(0, end)) lines.push(JSON.stringify(key));
            isWithin = keys.length > 0 && end < 0;
            if (lines.length < keysAtATime) continue;
            yield lines;
            lines = [];
          }
        }
        yield lines;
      }
  } finally {
    await quads.close();
  }
}
