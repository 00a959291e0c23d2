/** The thread that writes the state of a running server: it reads through the same LevelDB, and the HTTP thread answers meanwhile. */
import { readFileSync } from 'node:fs';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { acquire, assertWanted, type Caller, serve } from '../../lib/threads/worker-host.js';
import { GraphSet } from './graph-set.js';
import { type StateFiles, writeState } from './state-file.js';

export interface StateTask {
  /** The folder of LevelDB, which this process has open. */
  readonly folder: string;
  readonly files: StateFiles;
  /** A file with the bytes of a set of graphs that are left out. */
  readonly known: string | undefined;
}

const functions = {
  /** Sends how many entries it has written so far. @returns how many there are */
  async write({ folder, files, known }: StateTask, caller: Caller<unknown, number>): Promise<number> {
    const level = await acquire(() => openLevel(folder));
    let entries = 0;
    const told = (so: number): void => {
      assertWanted();
      entries = so;
      caller.tell(so);
    };
    const left = known === undefined ? undefined : GraphSet.from(readFileSync(known));
    await writeState(level, files, { known: left, told });
    return entries;
  },
};

export type StateFunctions = typeof functions;

serve(functions);
