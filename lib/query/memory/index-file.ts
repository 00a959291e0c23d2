/**
 * File with the in-memory index beside the database: reading it is 100 times faster than a build. It reflects an earlier state.
 * The change log shows the graphs that have changed since, or that it does not reach back far enough. It can be deleted at any
 * time.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { stagedGraphs } from '../../storage/graphs/staged-keys.js';
import { entryBlocks, type Level, type LevelSnapshot } from '../../storage/level/durable-level.js';
import { writeWhole } from '../../storage/level/synced-files.js';
import { allChanges, changeKey, positionOfKey, readEntry } from '../../storage/log/change-entry.js';
import { linksetEnd } from '../access/graph-ranges.js';
import { buffersOf, type IndexData } from './index-data.js';

/** Version of the file layout and its content. */
const format = 2;
/** Bytes before the header: its length, and the SHA-256 of that length, the header and the buffers. */
const [lengthBytes, digestBytes] = [4, 32];
/** Maximum number of changed graphs. With more, the index is rebuilt. */
const mostChanged = 4_000;

/** State of a storage. */
export interface IndexedState {
  /** IRI of the storage. */
  readonly storage: string;
  /** Position of its last event in the change log. */
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

/**
 * Returns the state of an index of a snapshot, or `undefined` if it cannot be saved because it has graphs that the log does not
 * cover, or there is no log.
 */
export async function stateOf({ level, snapshot }: Opened, storage: string): Promise<IndexedState | undefined> {
  const [last] = await level.keys({ ...allChanges(), reverse: true, limit: 1, snapshot }).all();
  if (last === undefined || (await stagedGraphs(level, snapshot)).size > 0) return undefined;
  return { storage, position: positionOfKey(last) };
}

/** Writes the file with permissions for its owner only. @throws the file system error */
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

/** Returns the index of the file and the graphs that have changed since, or `undefined` if it cannot be used. */
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
    // The file does not exist or is damaged.
    return undefined;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Returns `undefined` if the log does not have all changes since, or there are too many. */
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
      // The log entry of the position itself may have been removed.
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
    if (count === 0) throw new RangeError('The file is truncated.');
    at += count;
  }
}
