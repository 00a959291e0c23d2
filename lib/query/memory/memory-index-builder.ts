/**
 * The thread that builds the index in memory: it opens the server's LevelDB for itself, reads one snapshot, hands over what it
 * made, and ends. It must not know what has changed since.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openLevel } from '../../storage/durable-level.js';
import { buildIndex, type IndexData } from './index-data.js';

export interface BuilderData {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly mostQuads: number;
}

/** `undefined`: there are more quads than that. */
export interface FromBuilder {
  readonly data: IndexData | undefined;
}

const { folder, mostQuads } = workerData as BuilderData;
const level = await openLevel(folder);
const snapshot = level.snapshot();
try {
  const message: FromBuilder = { data: await buildIndex(level, snapshot, mostQuads) };
  parentPort!.postMessage(message);
} finally {
  await snapshot.close();
  await level.close();
}
