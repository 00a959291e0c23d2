/** The caller's dataset over one snapshot, as the query engine gets it. It must not know the query. */
import type { Level, LevelSnapshot } from '../storage/durable-level.js';
import type { ReadableGraphs } from './access/readable-graphs.js';
import type { MemoryView } from './memory/memory-view.js';

export interface DatasetOptions {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
  readonly readable: ReadableGraphs;
  /** The graphs that the default graph is the union of; absent: all. */
  readonly defaultGraphs?: readonly string[];
  /** The graphs that GRAPH ranges over; absent: all. */
  readonly namedGraphs?: readonly string[];
  /** The quads of the snapshot in memory, when they are there. */
  readonly memory?: MemoryView | undefined;
}
