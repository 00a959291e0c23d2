/**
 * The sorted GSPO keys of a graph: as an array of strings, or packed as bytes for a large graph. Bytes are transferred between
 * threads without a copy and need a fraction of the memory.
 */
import { partitionPoint, slices } from '../../tools/collections.js';
import { yieldToEventLoop } from '../../tools/event-loop.js';
import { laterVersion, type RdfVersion, versionOf } from './key-layout.js';
import { comesBefore, compareKeys } from './key-order.js';

/** Keys with prefix compression. `lengths`: for each key, characters shared with the previous key, and characters in `text`. */
export interface KeyChunk {
  readonly lengths: Uint32Array<ArrayBuffer>;
  readonly text: Uint8Array<ArrayBuffer>;
  /** Version of RDF that the triples require; absent for 1.1. */
  readonly version?: RdfVersion;
}

export type GraphKeys = readonly string[] | PackedKeys;

const keysAtATime = 1000;

export class PackedKeys {
  private sum: number | undefined;

  /** @param length count of keys */
  constructor(
    readonly length: number,
    readonly chunks: readonly KeyChunk[],
  ) {}

  /** Yields all keys in blocks, unpacked on demand. */
  *blocks(): Generator<string[]> {
    for (const chunk of this.chunks) yield unpacked(chunk);
  }

  /** Total length of all keys, in characters. */
  get characters(): number {
    this.sum ??= this.chunks.reduce((sum, { lengths }) => lengths.reduce((own, length) => own + length, sum), 0);
    return this.sum;
  }

  /** Size in memory, in bytes. */
  get bytes(): number {
    return this.chunks.reduce((sum, { lengths, text }) => sum + lengths.byteLength + text.byteLength, 0);
  }

  has(key: string): boolean {
    const { chunks } = this;
    const chunk = chunks[partitionPoint(1, chunks.length, (at) => compareKeys(firstOf(chunks[at]!), key) <= 0) - 1];
    return chunk !== undefined && hasKey(unpacked(chunk), key);
  }
}

/** Packs sorted keys. @param atATime count of keys in a chunk, which are unpacked together */
export function packKeys(keys: readonly string[], atATime = keysAtATime): PackedKeys {
  return packedOf(Array.from(slices(keys, atATime), packChunk));
}

/** Returns the keys of sorted chunks. */
export const packedOf = (chunks: readonly KeyChunk[]): PackedKeys =>
  new PackedKeys(
    chunks.reduce((sum, { lengths }) => sum + lengths.length / 2, 0),
    chunks,
  );

/** Packs sorted keys into one chunk that can be unpacked separately. */
export function packChunk(keys: readonly string[]): KeyChunk {
  const { lengths, text } = packText(keys);
  const version = versionOf(keys);
  return { lengths, text: new TextEncoder().encode(text), ...(version && { version }) };
}

/** Returns the lengths of a chunk, and its text as string. */
export function packText(keys: readonly string[]): Pick<KeyChunk, 'lengths'> & { readonly text: string } {
  const lengths = new Uint32Array(keys.length * 2);
  let text = '';
  let before = '';
  for (const [index, key] of keys.entries()) {
    const most = Math.min(before.length, key.length);
    let shared = 0;
    while (shared < most && before.charCodeAt(shared) === key.charCodeAt(shared)) shared++;
    // Do not split a surrogate pair, because half of it has no UTF-8 encoding.
    if (shared > 0 && isHighSurrogate(key.charCodeAt(shared - 1))) shared--;
    lengths[index * 2] = shared;
    lengths[index * 2 + 1] = key.length - shared;
    text += key.slice(shared);
    before = key;
  }
  return { lengths, text };
}

/** Returns the version of RDF that a graph requires. */
export const versionOfGraph = (keys: GraphKeys): RdfVersion | undefined =>
  keys instanceof PackedKeys
    ? keys.chunks.reduce<RdfVersion | undefined>((found, { version }) => laterVersion(found, version), undefined)
    : versionOf(keys);

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

const unpacked = ({ lengths, text }: KeyChunk): string[] => unpackText(lengths, textOf(text));

/** Returns the keys of a chunk from its lengths and its text. */
export function unpackText(lengths: ArrayLike<number>, text: string): string[] {
  const keys: string[] = [];
  let key = '';
  for (let index = 0, at = 0; index < lengths.length; index += 2) {
    const end = at + lengths[index + 1]!;
    key = key.slice(0, lengths[index]!) + text.slice(at, end);
    keys.push(key);
    at = end;
  }
  return keys;
}

const firstOf = ({ lengths, text }: KeyChunk): string => textOf(text).slice(0, lengths[1]);

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** Returns the index of the first sorted key that is at least `key`, or the count of keys (binary search). */
export function lowerBound(keys: readonly string[], key: string, from = 0): number {
  const isBefore = comesBefore(key);
  return partitionPoint(from, keys.length, (at) => isBefore(keys[at]!));
}

/** Returns true if sorted keys contain a key. */
export const hasKey = (keys: readonly string[], key: string): boolean => keys[lowerBound(keys, key)] === key;

/** Merges two sorted arrays of keys without duplicates. */
export function mergedKeys(a: readonly string[], b: readonly string[]): readonly string[] {
  if (b.length === 0) return a;
  const keys: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const order = i === a.length ? 1 : j === b.length ? -1 : compareKeys(a[i]!, b[j]!);
    keys.push(order <= 0 ? a[i]! : b[j]!);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return keys;
}

/** Returns the total length of all keys, in characters. */
export const charactersOf = (keys: GraphKeys): number =>
  keys instanceof PackedKeys ? keys.characters : keys.reduce((sum, { length }) => sum + length, 0);

/** Yields all keys in blocks. */
export function* blocksOf(keys: GraphKeys): Generator<readonly string[]> {
  if (keys instanceof PackedKeys) yield* keys.blocks();
  else yield* slices(keys, keysAtATime);
}

/** Returns all keys as an array, which takes much memory for a large graph. */
export function allOf(keys: GraphKeys): readonly string[] {
  if (!(keys instanceof PackedKeys)) return keys;
  const all: string[] = [];
  for (const block of keys.blocks()) for (const key of block) all.push(key);
  return all;
}

/** Returns all keys as an array, built in slices that yield to the event loop. */
export async function unpackedSoon(keys: PackedKeys): Promise<string[]> {
  const all: string[] = [];
  for (const block of keys.blocks()) {
    for (const key of block) all.push(key);
    await yieldToEventLoop();
  }
  return all;
}
