/** The thread that builds the index in memory: it opens the server's LevelDB for itself, and reads one snapshot. */
import { openLevel } from '../../storage/engine/durable-level.js';
import { hold, isEnding, release, serve } from '../../threads/serve.js';
import { type IndexData, indexOf, readQuads } from './index-data.js';

export interface BuilderTask {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly maxQuads: number;
}

const functions = {
  /** The index; `undefined` when there are more quads than `maxQuads`, or the thread has to end. */
  async build({ folder, maxQuads }: BuilderTask): Promise<IndexData | undefined> {
    const level = await hold(() => openLevel(folder));
    const snapshot = level.snapshot();
    const read = await readQuads(level, snapshot, { most: maxQuads, isStopped: isEnding });
    await snapshot.close();
    // LevelDB is closed: from here on the thread can be killed.
    await release(level);
    return read && indexOf(read);
  },
};

export type BuilderFunctions = typeof functions;

serve(functions);
