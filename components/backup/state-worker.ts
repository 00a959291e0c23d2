/** The thread that writes the state of a running server: it reads through the same LevelDB, and the HTTP thread answers meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { openLevel } from '../../lib/storage/durable-level.js';
import { writeState } from './state-file.js';

export interface StateTask {
  /** The folder of LevelDB, which this process has open. */
  readonly folder: string;
  readonly file: string;
  /** Not zero: to end without it. */
  readonly ended: Int32Array;
}

export type StateMessage = { readonly entries: number; readonly done: boolean } | { readonly failure: string };

const { folder, file, ended } = workerData as StateTask;
const tell = (message: StateMessage): void => parentPort!.postMessage(message);
const level = await openLevel(folder);
try {
  const entries = await writeState(level, file, (so) => {
    if (Atomics.load(ended, 0) !== 0) throw new Error('it is no longer wanted');
    tell({ entries: so, done: false });
  });
  tell({ entries, done: true });
} catch (error) {
  tell({ failure: (error as Error).message });
} finally {
  await level.close();
}
