/** Reads quads of a snapshot into memory: all quads, as a sorted index that threads share, or the triples of one graph. */

import { basename } from 'node:path';
import { DamagedGraphError, digestIn, returnedKeys, withoutReturned } from '../../storage/graphs/graph-digests.js';
import { isLargeGraph } from '../../storage/graphs/graph-lines.js';
import { graphPrefix, graphRange, separator } from '../../storage/keys/quad-keys.js';
import { type ResourceRecord, rangeOf, readRecord, recordKey } from '../../storage/keys/records.js';
import { keyBlocks, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';
import { KeyReader } from '../access/key-reader.js';
import { PageCache } from '../segments/page-file.js';
import { isResident, Segment, type SegmentData, segmentBytes } from '../segments/segment.js';
import { NumberedQuads } from './numbered-quads.js';
import { SegmentQuads } from './segment-quads.js';
import { type QuadOrders, type SortedQuadsData, sharedQuads, shareQuads } from './sorted-quads.js';
import type { BaseTerms, TermIds } from './term-ids.js';
import { TermTable, type TermTableData } from './term-table.js';

/** Index of few quads: sorted arrays in shared memory. */
export interface SortedData {
  readonly quads: SortedQuadsData;
  readonly terms: TermTableData;
}

/** Index of all quads, in messages between threads: sorted arrays, or files. */
export type IndexData = SortedData | SegmentData;

const isSegment = (data: IndexData): data is SegmentData => 'resident' in data;

/** Returns the memory of an index, in bytes. */
export function bytesOf(data: IndexData): number {
  if (isSegment(data)) return segmentBytes(data);
  const { text, offsets, hashes, slots } = data.terms;
  const buffers = [...data.quads.columns.flat(), text, offsets, hashes, slots];
  return buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

export const indexedQuads = (data: IndexData): number => (isSegment(data) ? data.quads : data.quads.count);

/** True if the index is in memory. Long terms may be in files. */
export const isInMemory = (data: IndexData): boolean => !isSegment(data) || isResident(data);

/** Returns the file names of an index, without the files of long terms. */
export const filesOf = (data: IndexData): readonly string[] => (isSegment(data) ? [basename(data.name)] : []);

/** Size of the page cache of this thread, in bytes. */
const cacheBytes = 16 << 20;
let cache: PageCache | undefined;
const cacheOfThread = (): PageCache => {
  cache ??= new PageCache(cacheBytes);
  return cache;
};

/** Closes the files of segments when no query reads them any more. */
const unused = new FinalizationRegistry<() => void>((close) => close());

/** Opens an index in this thread. @throws errors of the file system */
export function openIndex(data: IndexData): { readonly quads: QuadOrders; readonly terms: BaseTerms } {
  if (!isSegment(data)) return { quads: sharedQuads(data.quads), terms: TermTable.from(data.terms) };
  const segment = new Segment(data, cacheOfThread);
  unused.register(segment.terms, segment.closer);
  const { columns, isUnique, quads: count } = data;
  const quads = columns
    ? sharedQuads({ count, most: segment.terms.size - 1, isUnique, columns })
    : new SegmentQuads(segment);
  return { quads, terms: segment.terms };
}

/** Limit of the texts of terms, in bytes: bytes per allowed quad, but at least `leastText` bytes. */
const [textOfQuad, leastText] = [256, 64 << 20];

/**
 * Reads all quads. Returns `undefined` for more than `most` quads, too long terms, or if `isStopped` returns true.
 * @throws TableFullError
 */
export async function readQuads(
  blocks: AsyncIterable<readonly string[]>,
  { most, isStopped = () => false }: { readonly most: number; readonly isStopped?: () => boolean },
): Promise<NumberedQuads | undefined> {
  const quads = new NumberedQuads();
  const mostText = Math.max(leastText, most * textOfQuad);
  for await (const keys of blocks) {
    if (quads.count + keys.length > most || quads.textBytes > mostText || isStopped()) return undefined;
    for (const key of keys) quads.add(key);
  }
  return quads;
}

/** Builds the sorted index of quads in shared memory. */
export function indexOf(quads: NumberedQuads): SortedData {
  const { terms, sorted } = quads.sort({ isShared: true });
  return { quads: shareQuads(sorted), terms };
}

/** Triples of a graph, as three term IDs for each triple. */
export type GraphTriples = Uint32Array;

/** Returns the common prefix of the GSPO keys of a subject in a graph. */
export const subjectPrefix = (graph: string, subject: string): string => graphPrefix(graph) + subject + separator;

interface State {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
}

/** Returns the record of a resource in a snapshot, or `undefined`. */
export function recordIn({ level, snapshot }: State, iri: string): ResourceRecord | undefined {
  const value = level.getSync(recordKey(iri), { snapshot });
  return value === undefined ? undefined : readRecord(iri, value);
}

/** Yields the keys of a graph, or of some subjects. @throws DamagedGraphError, only without `subjects` */
export async function* graphBlocks(
  state: State,
  graph: string,
  subjects?: readonly string[],
): AsyncGenerator<readonly string[]> {
  const { level, snapshot } = state;
  if (!subjects) return yield* comparedKeys(recordIn(state, graph), keyBlocks(level, graphRange(graph), { snapshot }));
  for (const subject of subjects) yield* keyBlocks(level, rangeOf(subjectPrefix(graph, subject)), { snapshot });
}

/**
 * Yields the keys of a graph. Omits deleted keys that LevelDB returned (decision 168), which the digest in the record reveals.
 * @param record absent for a graph that is not a resource, such as the graph of a linkset. Its keys are not compared
 * @param blocks keys of the graph, as read from LevelDB
 * @throws DamagedGraphError if the digest differs and the deleted keys cannot be identified, or the graph is large
 */
export async function* comparedKeys(
  record: ResourceRecord | undefined,
  blocks: AsyncIterable<readonly string[]>,
): AsyncGenerator<readonly string[]> {
  const digest = record && digestIn(record);
  if (!digest) return yield* blocks;
  if (isLargeGraph(record.triples ?? 0)) {
    for await (const keys of blocks) {
      digest.toggle(keys);
      yield keys;
    }
    if (!digest.isZero) throw new DamagedGraphError(record.iri);
    return;
  }
  const all: string[] = [];
  for await (const keys of blocks) for (const key of keys) all.push(key);
  const returned = returnedKeys(record, all);
  yield returned ? withoutReturned(all, returned) : all;
}

/** Key reader shared by all readers of a thread, because it caches the layouts of keys. */
const reader = new KeyReader();

/** Reads the triples of GSPO keys as term IDs. Adds new terms to `terms`. */
export async function readTriples(
  blocks: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
  terms: TermIds,
): Promise<GraphTriples> {
  const triples: number[] = [];
  let [token, subject] = ['', -1];
  for await (const keys of blocks)
    for (const key of keys) {
      reader.read(key);
      // Successive keys mostly have the same subject, whose ID is reused.
      const next = reader.token(0);
      if (subject < 0 || next !== token) [token, subject] = [next, terms.add(next)];
      triples.push(subject, terms.add(reader.token(1)), terms.add(reader.token(2)));
    }
  return new Uint32Array(triples);
}
