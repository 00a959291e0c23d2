/** Worker thread that writes the state of a running server. It reads the LevelDB that the HTTP thread has open. */
import { readFileSync } from 'node:fs';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { acquire, assertWanted, type Caller, serve } from '../../../lib/tools/threads/worker-host.js';
import { GraphSet } from './graph-set.js';
import { type StateFiles, writeState } from './state-file.js';

export interface StateTask {
  /** LevelDB directory, which is open in this process. */
  readonly folder: string;
  readonly files: StateFiles;
  /** Path of a file with a serialized `GraphSet` of graphs to omit; undefined for a full backup. */
  readonly known: string | undefined;
}

const functions = {
  /** Writes the state, and reports the count of entries so far. @returns the total count */
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
