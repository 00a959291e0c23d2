/** Thread that builds the in-memory index. It opens the server's LevelDB itself, and reads one snapshot, or the file of an earlier index. */
import { statSync } from 'node:fs';
import { openLevel } from '../../storage/level/durable-level.js';
import { acquire, isEnding, release, serve } from '../../threads/worker-host.js';
import { type IndexData, indexOf, readQuads } from './index-data.js';
import { readIndex, stateOf, writeIndex } from './index-file.js';

export interface BuilderTask {
  /** Directory of the LevelDB. */
  readonly folder: string;
  readonly maxQuads: number;
  /** Minimum number of quads of an index that is saved to a file. */
  readonly keptFrom: number;
  /** IRI of the storage. */
  readonly storage: string;
}

export interface BuiltIndex {
  readonly data: IndexData;
  /** Graphs that have changed since, absent if the index is current. */
  readonly changed?: readonly string[];
}

/** Minimum time between two writes of a file, in milliseconds. */
const keptMs = 600_000;
let save = (): void => {};

const functions = {
  /** Returns the index, or `undefined` if there are more than `maxQuads` quads or the thread has to end. */
  async build({ folder, maxQuads, keptFrom, storage }: BuilderTask): Promise<BuiltIndex | undefined> {
    const level = await acquire(() => openLevel(folder));
    const snapshot = level.snapshot();
    const file = `${folder}.index`;
    const kept = await readIndex(file, storage, { level, snapshot });
    const read = kept ? undefined : await readQuads(level, snapshot, { most: maxQuads, isStopped: isEnding });
    const state = read && read.quads.count >= keptFrom ? await stateOf({ level, snapshot }, storage) : undefined;
    await snapshot.close();
    // LevelDB is closed. The thread can be killed from here on.
    await release(level);
    if (kept && kept.data.quads.count <= maxQuads) return kept;
    const data = read && indexOf(read);
    if (data && state && isOld(file)) save = () => writeIndex(file, state, data);
    return data && { data };
  },

  /** Writes the file, after the index has been passed on. */
  save: async () => save(),
};

function isOld(file: string): boolean {
  const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > keptMs;
}

export type BuilderFunctions = typeof functions;

serve(functions);
