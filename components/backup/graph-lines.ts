/**
 * The quads of a storage as lines, graph by graph in the order of what speaks of them: linksets, then records. Graphs whose state is known
 * are not read at all, and neither is a graph that nothing speaks of (it is being written or removed). It must not know files.
 */
import { allLinks } from '../../lib/resources/linkset-graph.js';
import { block, entryBlocks, type Level, type LevelSnapshot } from '../../lib/storage/durable-level.js';
import { graphPrefix, indexNames } from '../../lib/storage/quad-keys.js';
import { allRecords, rangeOf } from '../../lib/storage/records.js';
import { type GraphState, graphState, lineOfGraph } from './entries.js';
import type { GraphSet } from './graph-set.js';

const keysAtATime = 1000;
/** A linkset has few. */
const keysOfLinkset = 7;

/**
 * @returns some lines at a time, of which there may be none, so that whoever waits can tell how far it is
 * @throws BackupError for a record that is damaged
 */
export async function* graphLines(
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
          for await (const keys of cursor.graph(state)) {
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

/** Reads graphs one after the other. Where the next one follows the last, as members of a container do, it reads on without a leap. */
class GraphCursor {
  private readonly iterator;
  private keys: readonly string[] = [];
  private at = 0;
  private size = 0;

  constructor(level: Level, snapshot: LevelSnapshot) {
    this.iterator = level.keys({ ...rangeOf(`${indexNames[0]}\u0000`), snapshot, ...block });
  }

  async *graph({ graph, triples = keysOfLinkset }: GraphState): AsyncGenerator<readonly string[]> {
    const prefix = graphPrefix(graph);
    // One more than there are tells that they end.
    const wanted = Math.min(keysAtATime, triples + 1);
    if (this.keys[this.at]?.startsWith(prefix) !== true) {
      this.iterator.seek(prefix);
      this.size = wanted;
      await this.read();
    }
    while (this.keys.length > 0) {
      const from = this.at;
      while (this.keys[this.at]?.startsWith(prefix)) this.at++;
      yield this.keys.slice(from, this.at);
      if (this.at < this.keys.length) return;
      this.size = Math.min(keysAtATime, Math.max(wanted, this.size * 2));
      await this.read();
    }
  }

  private async read(): Promise<void> {
    this.keys = await this.iterator.nextv(this.size);
    this.at = 0;
  }

  close(): Promise<void> {
    return this.iterator.close();
  }
}
