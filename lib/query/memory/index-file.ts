/**
 * The index in memory as a file beside the database: to read it takes a hundredth of the time of building it. It is of an earlier state; the log of
 * changes says which graphs have changed since, or that it does not know. Nothing depends on it.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { stagedGraphs } from '../../storage/graphs/staged-keys.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';
import { writeWhole } from '../../storage/level/synced-files.js';
import { allChanges, changeKey, positionOfKey, readEntry } from '../../storage/log/change-entry.js';
import { linksetEnd } from '../access/graph-ranges.js';
import { buffersOf, type IndexData } from './index-data.js';

/** Changes with the layout of the file, and of what is in it. */
const format = 2;
/** Bytes before the header: its length, and the SHA-256 of that length, the header and the buffers. */
const [lengthBytes, digestBytes] = [4, 32];
/** With more changed graphs it is built anew. */
const mostChanged = 4_000;

/** A state of a storage. */
export interface IndexedState {
  /** The storage's IRI. */
  readonly storage: string;
  /** The position of its last event in the log of changes. */
  readonly position: number;
}

interface Header extends IndexedState {
  readonly format: number;
  readonly quads: Omit<IndexData['quads'], 'columns'>;
  readonly terms: { readonly count: number; readonly seed: number };
  readonly lengths: readonly number[];
}

interface Opened {
  readonly level: Level;
  readonly snapshot: LevelSnapshot;
}

/** What an index of a snapshot is of; `undefined`: it cannot be kept, since it has graphs of which the log does not tell, or there is no log. */
export async function stateOf({ level, snapshot }: Opened, storage: string): Promise<IndexedState | undefined> {
  const [last] = await level.keys({ ...allChanges(), reverse: true, limit: 1, snapshot }).all();
  if (last === undefined || (await stagedGraphs(level, snapshot)).size > 0) return undefined;
  return { storage, position: positionOfKey(last) };
}

/** Writes the file, readable by its owner alone. @throws the file system's error */
export function writeIndex(file: string, state: IndexedState, data: IndexData): void {
  const buffers = buffersOf(data).map((each) => new Uint8Array(each));
  const { columns: _, ...quads } = data.quads;
  const { count, seed } = data.terms;
  const lengths = buffers.map(({ length }) => length);
  const header: Header = { ...state, format, quads, terms: { count, seed }, lengths };
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(lengthBytes);
  head.writeUInt32LE(text.length);
  writeWhole(file, [head, digestOf([head, text, ...buffers]), text, ...buffers]);
}

/** The index of the file, and the graphs that have changed since; `undefined` when it cannot be used. */
export async function readIndex(
  file: string,
  storage: string,
  opened: Opened,
): Promise<{ readonly data: IndexData; readonly changed: readonly string[] } | undefined> {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const head = read(handle, lengthBytes);
    const digest = read(handle, digestBytes);
    const text = read(handle, Math.min(head.readUInt32LE(), 1 << 20));
    const header = JSON.parse(text.toString()) as Header;
    if (header.format !== format || header.storage !== storage) return undefined;
    const size = header.lengths.reduce((sum, length) => sum + length, lengthBytes + digestBytes + text.length);
    if (fstatSync(handle).size !== size) return undefined;
    const changed = await changedSince(header, opened);
    if (!changed) return undefined;
    const buffers = header.lengths.map((length) => new SharedArrayBuffer(length));
    const views = buffers.map((buffer) => new Uint8Array(buffer));
    for (const view of views) readInto(handle, view);
    if (!digestOf([head, text, ...views]).equals(digest)) return undefined;
    const [texts, offsets, hashes, slots] = buffers.splice(16) as [never, never, never, never];
    const columns = [0, 4, 8, 12].map((at) => buffers.slice(at, at + 4));
    return {
      data: { quads: { ...header.quads, columns }, terms: { ...header.terms, text: texts, offsets, hashes, slots } },
      changed,
    };
  } catch {
    // There is none, or it is damaged.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** `undefined` when the log does not have all changes since, or there are too many. */
async function changedSince(
  { position, storage }: IndexedState,
  { level, snapshot }: Opened,
): Promise<readonly string[] | undefined> {
  const graphs = new Set<string>();
  let last: number | undefined;
  for await (const entries of entryBlocks(level, { ...allChanges(), gte: changeKey(position) }, { snapshot }))
    for (const entry of entries) {
      const { previous, events } = readEntry(entry, storage);
      const end = positionOfKey(entry[0]);
      // The entry of the position itself may have been removed from the log.
      if (end !== position && previous !== (last ?? position)) return undefined;
      last = end;
      for (const { what } of end === position ? [] : events) {
        if ('id' in what) continue;
        const { iri } = (what.after ?? what.before)!;
        graphs.add(iri).add(iri + linksetEnd);
      }
      if (graphs.size > mostChanged) return undefined;
    }
  return last === undefined ? undefined : [...graphs];
}

function digestOf(buffers: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const buffer of buffers) hash.update(buffer);
  return hash.digest();
}

function read(handle: number, length: number): Buffer {
  const found = Buffer.alloc(length);
  readInto(handle, found);
  return found;
}

/** @throws RangeError at the end of the file */
function readInto(handle: number, target: Uint8Array): void {
  for (let at = 0; at < target.length; ) {
    const count = readSync(handle, target, at, target.length - at, null);
    if (count === 0) throw new RangeError('The file is cut off.');
    at += count;
  }
}
