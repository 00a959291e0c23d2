/**
 * The thread that builds the index in memory: it opens the server's LevelDB for itself, reads one snapshot, hands over what it made, and
 * ends.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openLevel } from '../../storage/engine/durable-level.js';
import { type IndexData, indexOf, type ReadQuads, readQuads } from './index-data.js';

export interface BuilderData {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly maxQuads: number;
}

/** First, that LevelDB is read and closed; then the index. Without data: there are more quads than that, or it was told to stop. */
export type FromBuilder = { readonly isRead: true } | { readonly data: IndexData | undefined };

const { folder, maxQuads } = workerData as BuilderData;
const port = parentPort!;
const send = (message: FromBuilder): void => port.postMessage(message);
let isStopped = false;
// Whatever comes is the word to stop: a thread that is killed while LevelDB reads for it can end the process when the store is closed.
port.once('message', () => {
  isStopped = true;
});

async function readAll(): Promise<ReadQuads | undefined> {
  const level = await openLevel(folder);
  const snapshot = level.snapshot();
  try {
    return await readQuads(level, snapshot, { most: maxQuads, isStopped: () => isStopped });
  } finally {
    await snapshot.close();
    await level.close();
  }
}

const read = await readAll();
send({ isRead: true });
send({ data: read && !isStopped ? indexOf(read) : undefined });
port.close();
