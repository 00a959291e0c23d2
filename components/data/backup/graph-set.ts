/**
 * Set of sections of a backup, stored as sorted hashes of eight bytes. The hashes are salted, so that clients cannot create two states
 * with the same hash. With ten million graphs, a new state is mistaken for a known one with a probability of 10^-12.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Entry } from '../../../lib/storage/graphs/state-blocks.js';
import { partitionPoint } from '../../../lib/tools/collections.js';
import { type BackupSection, sectionOf } from './entries.js';

const saltBytes = 16;
const hashBytes = BigUint64Array.BYTES_PER_ELEMENT;
/** Maximum size in bytes of a set that is sent to a server: 33 million graphs. */
export const maxSetBytes = saltBytes + hashBytes * (1 << 25);

export class GraphSet {
  private readonly seen: Uint8Array;
  private seenCount = 0;

  private constructor(
    private readonly salt: Uint8Array,
    private readonly hashes: BigUint64Array,
  ) {
    this.seen = new Uint8Array((hashes.length >> 3) + 1);
  }

  /**
   * Returns the set of graphs that entries refer to. @param told called with the count of entries @throws BackupError see
   * `sectionOf`
   */
  static async of(
    blocks: AsyncIterable<readonly Entry[]>,
    told: (entries: number) => void = () => {},
  ): Promise<GraphSet> {
    const salt = randomBytes(saltBytes);
    let [hashes, count, entries] = [new BigUint64Array(1024), 0, 0];
    for await (const block of blocks) {
      entries += block.length;
      told(entries);
      for (const entry of block) {
        const state = sectionOf(entry);
        if (!state) continue;
        if (count === hashes.length) {
          const larger = new BigUint64Array(count * 2);
          larger.set(hashes);
          hashes = larger;
        }
        hashes[count++] = hashOf(salt, state);
      }
    }
    return new GraphSet(salt, inOrder(hashes.subarray(0, count)));
  }

  /** Creates a set from the value of `bytes`. @throws RangeError for invalid bytes */
  static from(bytes: Uint8Array): GraphSet {
    if (bytes.length < saltBytes || bytes.length > maxSetBytes || (bytes.length - saltBytes) % hashBytes !== 0)
      throw new RangeError('The set of known graphs is truncated or invalid.');
    const hashes = new BigUint64Array((bytes.length - saltBytes) / hashBytes);
    new Uint8Array(hashes.buffer).set(bytes.subarray(saltBytes));
    return new GraphSet(bytes.slice(0, saltBytes), inOrder(hashes));
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.hashes;
    const bytes = new Uint8Array(saltBytes + byteLength);
    bytes.set(this.salt);
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), saltBytes);
    return bytes;
  }

  /** Length of the value of `bytes`. */
  get length(): number {
    return saltBytes + this.hashes.byteLength;
  }

  has(state: BackupSection): boolean {
    return this.indexOf(state) !== undefined;
  }

  /** Marks a graph as seen. @returns `undefined` if the set lacks it, true if it was not seen before, otherwise false */
  see(state: BackupSection): boolean | undefined {
    const index = this.indexOf(state);
    if (index === undefined) return undefined;
    const bit = 1 << (index & 7);
    if ((this.seen[index >> 3]! & bit) !== 0) return false;
    this.seen[index >> 3]! |= bit;
    this.seenCount++;
    return true;
  }

  hasSeen(state: BackupSection): boolean {
    const index = this.indexOf(state);
    return index !== undefined && (this.seen[index >> 3]! & (1 << (index & 7))) !== 0;
  }

  /** Count of graphs that were not marked as seen. */
  get unseen(): number {
    return this.hashes.length - this.seenCount;
  }

  private indexOf(state: BackupSection): number | undefined {
    const { hashes } = this;
    const hash = hashOf(this.salt, state);
    const index = partitionPoint(0, hashes.length, (at) => hashes[at]! < hash);
    return hashes[index] === hash ? index : undefined;
  }
}

function hashOf(salt: Uint8Array, { name, token, count }: BackupSection): bigint {
  const text = `${name}\u0000${token}\u0000${count ?? ''}`;
  return createHash('sha256').update(salt).update(text).digest().readBigUInt64LE();
}

/** Sorts hashes in place, and removes duplicates. */
function inOrder(hashes: BigUint64Array): BigUint64Array {
  hashes.sort();
  let kept = 0;
  for (const hash of hashes) if (kept === 0 || hashes[kept - 1] !== hash) hashes[kept++] = hash;
  return hashes.subarray(0, kept);
}
