/** The thread that writes the state of a running server. It reads through the same LevelDB while the HTTP thread handles requests. */
import { readFileSync } from 'node:fs';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { acquire, assertWanted, type Caller, serve } from '../../../lib/tools/threads/worker-host.js';
import { GraphSet } from './graph-set.js';
import { type StateFiles, writeState } from './state-file.js';

export interface StateTask {
  /** The directory of LevelDB, open in this process. */
  readonly folder: string;
  readonly files: StateFiles;
  /** A file with the bytes of the set of graphs to omit. */
  readonly known: string | undefined;
}

const functions = {
  /** Reports the number of entries written so far. @returns the total number */
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
