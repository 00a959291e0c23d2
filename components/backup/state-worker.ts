/** The thread that writes the state of a running server: it reads through the same LevelDB, and the HTTP thread answers meanwhile. */
import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { openLevel } from '../../lib/component/level.js';
import { GraphSet } from './graph-set.js';
import { type StateFiles, writeState } from './state-file.js';

export interface StateTask {
  /** The folder of LevelDB, which this process has open. */
  readonly folder: string;
  readonly files: StateFiles;
  /** A file with the bytes of a set of graphs that are left out. */
  readonly known: string | undefined;
  /** Not zero: to end without it. */
  readonly ended: Int32Array;
}

export type StateMessage = { readonly entries: number; readonly done: boolean } | { readonly failure: string };

const { folder, files, known, ended } = workerData as StateTask;
const tell = (message: StateMessage): void => parentPort!.postMessage(message);
const level = await openLevel(folder);
try {
  let entries = 0;
  const told = (so: number): void => {
    if (Atomics.load(ended, 0) !== 0) throw new Error('it is no longer wanted');
    entries = so;
    tell({ entries, done: false });
  };
  await writeState(level, files, { known: known === undefined ? undefined : GraphSet.from(readFileSync(known)), told });
  tell({ entries, done: true });
} catch (error) {
  tell({ failure: (error as Error).message });
} finally {
  await level.close();
}
