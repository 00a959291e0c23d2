/** The thread that builds the index in memory: it opens the server's LevelDB for itself, and reads one snapshot, or the file of an earlier index. */
import { statSync } from 'node:fs';
import { openLevel } from '../../storage/level/durable-level.js';
import { acquire, isEnding, release, serve } from '../../threads/worker-host.js';
import { type IndexData, indexOf, readQuads } from './index-data.js';
import { readIndex, stateOf, writeIndex } from './index-file.js';

export interface BuilderTask {
  /** The folder of the LevelDB. */
  readonly folder: string;
  readonly maxQuads: number;
  /** Where an index of so many quads is kept as a file. */
  readonly keptFrom: number;
  /** The storage's IRI. */
  readonly storage: string;
}

export interface BuiltIndex {
  readonly data: IndexData;
  /** Graphs that have changed since; absent: it is of today. */
  readonly changed?: readonly string[];
}

/** A file is not written again before so many milliseconds. */
const keptMs = 600_000;
let save = (): void => {};

const functions = {
  /** The index; `undefined` when there are more quads than `maxQuads`, or the thread has to end. */
  async build({ folder, maxQuads, keptFrom, storage }: BuilderTask): Promise<BuiltIndex | undefined> {
    const level = await acquire(() => openLevel(folder));
    const snapshot = level.snapshot();
    const file = `${folder}.index`;
    const kept = await readIndex(file, storage, { level, snapshot });
    const read = kept ? undefined : await readQuads(level, snapshot, { most: maxQuads, isStopped: isEnding });
    const state = read && read.quads.count >= keptFrom ? await stateOf({ level, snapshot }, storage) : undefined;
    await snapshot.close();
    // LevelDB is closed: from here on the thread can be killed.
    await release(level);
    if (kept && kept.data.quads.count <= maxQuads) return kept;
    const data = read && indexOf(read);
    if (data && state && isOld(file)) save = () => writeIndex(file, state, data);
    return data && { data };
  },

  /** Writes the file, when the index is in use already. */
  save: async () => save(),
};

function isOld(file: string): boolean {
  const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > keptMs;
}

export type BuilderFunctions = typeof functions;

serve(functions);
