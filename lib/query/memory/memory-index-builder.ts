/** Thread that builds the index. It opens the server's LevelDB itself and reads one snapshot, or the files of an earlier index. */
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { allQuads } from '../../storage/keys/quad-keys.js';
import { keyBlocks, type Level, type LevelSnapshot, openLevel } from '../../storage/level/durable-level.js';
import { acquire, isEnding, release, serve } from '../../threads/worker-host.js';
import { mergeInputs, mergeSegments } from '../segments/merge.js';
import { PageCache } from '../segments/page-file.js';
import { longName, openSegment, Segment, type SegmentData } from '../segments/segment.js';
import { type IndexData, indexOf, readQuads } from './index-data.js';
import { type IndexedState, type IndexFolder, indexFolder, stateOf } from './index-folder.js';
import { SegmentRun } from './segment-run.js';

export interface BuilderTask {
  /** Directory of the LevelDB. */
  readonly folder: string;
  /** Minimum number of quads of an index in files. Smaller ones are sorted arrays in memory. */
  readonly filesFrom: number;
  /** Maximum memory for the sections of segments, in bytes. */
  readonly memory: number;
  /** IRI of the storage. */
  readonly storage: string;
}

export interface BuiltIndex {
  readonly data: IndexData;
  /** Graphs that have changed since, absent if the index is current. */
  readonly changed?: readonly string[];
}

/** Limits of a run, which is sorted in memory: quads, and bytes of their terms. */
const [maxInRun, maxTextInRun] = [250_000, 128 << 20];
/** Page cache of a merge, in bytes. */
const mergeCache = 4 << 20;

/** Thrown when the thread has to end. */
class StoppedError extends Error {}

const functions = {
  /** Returns the index, or `undefined` if the thread has to end. */
  async build(task: BuilderTask): Promise<BuiltIndex | undefined> {
    const files = indexFolder(task.folder);
    const runs: string[] = [];
    try {
      const read = await readFrom(task, files, runs);
      // LevelDB is closed. The thread can be killed from here on.
      return read.built ?? { data: openSegment(published(files, runs, read.state), task.memory) };
    } catch (error) {
      if (error instanceof StoppedError) return undefined;
      throw error;
    } finally {
      for (const run of runs) for (const name of [run, longName(run)]) rmSync(name, { force: true });
    }
  },
};

/** Opens the files of an earlier index, or reads all quads: into memory, or into runs if they are many. */
async function readFrom(
  { folder, filesFrom, memory, storage }: BuilderTask,
  files: IndexFolder,
  runs: string[],
): Promise<{ readonly built?: BuiltIndex; readonly state?: IndexedState | undefined }> {
  const level = await acquire(() => openLevel(folder));
  const snapshot = level.snapshot();
  try {
    const kept = await files.read(storage, { level, snapshot });
    const data = kept && opened(files.path(kept.files[0]!), memory);
    if (data) return { built: { data, changed: kept.changed } };
    const read = await readQuads(level, snapshot, { most: filesFrom, isStopped: isEnding });
    assertWanted();
    if (read) {
      files.publish([], undefined);
      return { built: { data: indexOf(read) } };
    }
    const state = await stateOf({ level, snapshot }, storage);
    for await (const name of sortedRuns(files, level, snapshot)) runs.push(name);
    return { state };
  } finally {
    await snapshot.close();
    await release(level);
  }
}

/** Opens a segment, unless it is missing or damaged. */
function opened(name: string, memory: number): SegmentData | undefined {
  try {
    return openSegment(name, memory);
  } catch {
    // It is built again from the database.
    return undefined;
  }
}

function assertWanted(): void {
  if (isEnding()) throw new StoppedError();
}

/** Writes all quads as sorted segments. Yields their paths. */
async function* sortedRuns(files: IndexFolder, level: Level, snapshot: LevelSnapshot): AsyncGenerator<string> {
  let run = new SegmentRun();
  const write = (): string => {
    const name = files.path(files.newName());
    run.write(name, { graphs: [] });
    run = new SegmentRun();
    return name;
  };
  for await (const keys of keyBlocks(level, allQuads, { snapshot })) {
    assertWanted();
    for (const key of keys) run.add(key);
    if (run.count >= maxInRun || run.textBytes > maxTextInRun) yield write();
  }
  if (run.count > 0) yield write();
}

/** Merges runs, which it removes from the list, and publishes the result. Returns its path. */
function published(files: IndexFolder, runs: string[], state: IndexedState | undefined): string {
  let name = runs[0]!;
  if (runs.length === 1) runs.pop();
  else {
    const cache = new PageCache(mergeCache);
    const segments = runs.map((run) => new Segment(openSegment(run, 0), () => cache));
    name = files.path(files.newName());
    try {
      mergeSegments(mergeInputs(segments), { name, isBase: true, check: assertWanted });
    } finally {
      for (const segment of segments) segment.close();
    }
  }
  files.publish([basename(name)], state);
  return name;
}

export type BuilderFunctions = typeof functions;

serve(functions);
