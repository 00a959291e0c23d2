/** Thread that builds the index from a LevelDB snapshot, which the thread opens, or from the files of an earlier index. */
import { rmSync } from 'node:fs';
import { GraphComparison } from '../../storage/graphs/graph-comparison.js';
import { allQuads, graphRange, sortGraphs } from '../../storage/keys/quad-keys.js';
import { keyBlocks, openLevel } from '../../storage/level/durable-level.js';
import { OrderedRanges } from '../../storage/level/ordered-ranges.js';
import { affordable } from '../../tools/threads/thread-limits.js';
import { acquire, isEnding, release, serve } from '../../tools/threads/worker-host.js';
import { mergeInputs, mergeSegments } from '../segments/merge.js';
import { DamagedSegmentError, PageCache } from '../segments/page-file.js';
import { longName, openSegment, Segment, type SegmentData, type SegmentName } from '../segments/segment.js';
import { type IndexData, indexOf, readQuads } from './index-data.js';
import { type IndexedState, type IndexFolder, indexedState, indexFolder } from './index-folder.js';
import { SegmentRun } from './segment-run.js';

export interface BuilderTask {
  /** Directory of the LevelDB. */
  readonly folder: string;
  /** Minimum count of quads of an index in files. A smaller index consists of sorted arrays in memory. */
  readonly filesFrom: number;
  /** Maximum memory for the sections of segments, in bytes. */
  readonly memory: number;
  /** IRI of the storage. */
  readonly storage: string;
  /** True to merge the files of an earlier index with all later changes, even if there are few. */
  readonly isRenewal: boolean;
  /** Names of files that queries use. */
  readonly used: readonly string[];
}

export interface BuiltIndex {
  readonly data: IndexData;
  /** Source of the index: the files of an earlier index, these files merged with changed graphs, or all quads. */
  readonly from: 'files' | 'merge' | 'quads';
  /** Graphs changed since the files were written. Absent if the index is current. */
  readonly changed?: readonly string[];
  /** Graphs that differ from the digests in their records, usually because LevelDB returned deleted quads. */
  readonly differing?: readonly string[];
}

/** Limits of a run of the external sort, which is sorted in memory: count of quads, and size of their terms in bytes. */
const [maxInRun, maxTextInRun] = [250_000, affordable(32 << 20)];
/** Maximum count of graphs changed since the files were written. Above it, the files are merged before they are used. */
const maxUnmerged = 2_000;
/** Size of the page cache of a merge, in bytes. */
const mergeCache = 4 << 20;

/** Error if the server has told the thread to end. */
class StoppedError extends Error {}

const functions = {
  /** Returns the index, or `undefined` if the thread has to end. */
  async build(task: BuilderTask): Promise<BuiltIndex | undefined> {
    const files = indexFolder(task.folder);
    const runs: SegmentName[] = [];
    try {
      const read = await readFrom(task, files, runs);
      // LevelDB is closed, so the thread can be killed from now on. The next build removes its files.
      return (
        read.built ?? {
          data: openSegment(published(files, runs, read), task.memory),
          from: read.base === undefined ? 'quads' : 'merge',
          differing: read.differing ?? [],
        }
      );
    } catch (error) {
      if (error instanceof StoppedError) return undefined;
      if (!(error instanceof DamagedSegmentError)) throw error;
      // A page of the earlier index is damaged, so the index is built from the database.
      files.withdraw();
      return await functions.build({ ...task, isRenewal: false });
    } finally {
      for (const { name: run } of runs) for (const name of [run, longName(run)]) rmSync(name, { force: true });
    }
  },
};

interface ReadIndex {
  readonly built?: BuiltIndex;
  /** State of the snapshot that was read, for the manifest. `undefined` if the index cannot be used after a restart. */
  readonly state?: IndexedState | undefined;
  /** Segment of an earlier index. If present, the runs contain only graphs changed since. */
  readonly base?: SegmentName;
  readonly differing?: readonly string[];
}

/** Opens the files of an earlier index and reads changed graphs. Without files, reads all quads into memory or into runs. */
async function readFrom(task: BuilderTask, files: IndexFolder, runs: SegmentName[]): Promise<ReadIndex> {
  const { folder, filesFrom, memory, storage, isRenewal } = task;
  const level = await acquire(() => openLevel(folder));
  const snapshot = level.snapshot();
  try {
    const kept = await files.read(storage, { level, snapshot });
    await files.clean(task.used);
    const base = kept?.segment;
    const isMerged = isRenewal || (kept !== undefined && kept.changed.length > maxUnmerged);
    const data = base && opened(base, isMerged ? 0 : memory);
    const state = await indexedState({ level, snapshot }, storage);
    const comparison = new GraphComparison(level, snapshot);
    const { differing } = comparison;
    const all = (): AsyncIterable<string[]> => comparison.watched(keyBlocks(level, allQuads, { snapshot }));
    if (data && !isMerged) return { built: { data, from: 'files', changed: kept.changed } };
    if (data) {
      const changed = sortGraphs(kept.changed);
      const ranges = new OrderedRanges(level, snapshot, graphRange(changed.at(-1) ?? '').lt);
      try {
        const blocks = (graph: string) => comparison.watched(ranges.blocksOf(graphRange(graph)));
        for await (const run of runsOf(files, changed, blocks)) runs.push(run);
      } finally {
        await ranges.close();
      }
      return { state, base, differing };
    }
    files.withdraw();
    const read = await readQuads(all(), { most: filesFrom, isStopped: isEnding });
    assertWanted();
    if (read) return { built: { data: indexOf(read), from: 'quads', differing } };
    // The quads do not fit in memory. All keys are read again, which compares all graphs a second time.
    differing.length = 0;
    for await (const run of runsOf(files, [], all)) runs.push(run);
    return { state, differing };
  } finally {
    await snapshot.close();
    await release(level);
  }
}

/** Opens a segment. Returns `undefined` if the segment is missing, damaged, or another one than the manifest names. */
function opened(segment: SegmentName, memory: number): SegmentData | undefined {
  try {
    return openSegment(segment, memory);
  } catch {
    // The caller builds the index from the database.
    return undefined;
  }
}

function assertWanted(): void {
  if (isEnding()) throw new StoppedError();
}

/**
 * Writes quads as sorted segments.
 * @param graphs graphs that replace graphs of an earlier index. If there are none, `blocks` returns all quads
 */
async function* runsOf(
  files: IndexFolder,
  graphs: readonly string[],
  blocks: (graph: string) => AsyncIterable<readonly string[]>,
): AsyncGenerator<SegmentName> {
  let run = new SegmentRun();
  // Only the first run replaces graphs. Otherwise, later runs would mask quads of the first run.
  let replaced = graphs;
  const write = (): SegmentName => {
    const written = run.write(files.path(files.newName()), { graphs: replaced });
    [run, replaced] = [new SegmentRun(), []];
    return written;
  };
  for (const graph of graphs.length === 0 ? [''] : graphs)
    for await (const keys of blocks(graph)) {
      assertWanted();
      for (const key of keys) run.add(key);
      if (run.count >= maxInRun || run.textBytes > maxTextInRun) yield write();
    }
  if (run.count > 0 || replaced.length > 0) yield write();
}

/** Merges an earlier index and runs, and publishes the result. */
function published(files: IndexFolder, runs: SegmentName[], { base, state }: ReadIndex): SegmentName {
  const cache = new PageCache(mergeCache);
  const names = base === undefined ? runs : [base, ...runs];
  const segments = names.map((each) => new Segment(openSegment(each, 0), () => cache));
  let merged: SegmentName;
  try {
    merged = mergeSegments(mergeInputs(segments), { name: files.path(files.newName()), check: assertWanted });
  } finally {
    for (const segment of segments) segment.close();
  }
  // Without a state, the manifest is not replaced. An existing manifest names the earlier index, from which the next merge
  // starts.
  if (state) files.publish(merged, state);
  return merged;
}

export type BuilderFunctions = typeof functions;

serve(functions);
