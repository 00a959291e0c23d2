/**
 * How many matches a scan has, about: exact for a few. Where graphs are closed, only those are counted that are open, and what is more than
 * can be counted is judged by a part of it.
 */
import type { GraphGate } from './graph-gate.js';
import { inKeys } from './graph-ranges.js';
import type { KeyIterators } from './key-iterators.js';
import type { KeyPrefix } from './key-reader.js';
import { type OpenPart, takeBehind } from './open-part.js';
import { eachMatch, type Scan } from './scan.js';
import { type GatedScan, isByGraph, leapOf, startOf } from './scan-runs.js';

/** Up to so many keys are counted. */
const maxCounted = 64;
/** Where some may be closed, it is enough to have counted so many; and so many are read for that. */
const enoughCounted = 32;
const maxRead = 128;
/** Where they did not suffice, the count is exact if what is open, and where it is, can be read for so much, in keys. */
const exactUpTo = 1024;
/** What LevelDB's compressed tables take for a key, about. */
const bytesPerKey = 34;
/** More ranges are not asked for their size one by one. */
const maxSized = 16;

/** How many keys begin with a prefix. */
export async function keysBehind(iterators: KeyIterators, { index, prefix }: KeyPrefix): Promise<number> {
  const counted = await iterators.lend(index, async (iterator) => {
    iterator.seek(prefix);
    // LevelDB gives fewer than are asked for when they are long.
    for (let count = 0; ; ) {
      const keys = await iterator.nextv(maxCounted);
      const own = keys.findLastIndex((key) => key.startsWith(prefix)) + 1;
      count += own;
      if (own < keys.length || keys.length === 0 || count >= maxCounted) return count;
    }
  });
  if (counted < maxCounted) return counted;
  return Math.max(counted, Math.round((await iterators.sizeOf(prefix)) / bytesPerKey));
}

/** How many matches a scan has in open graphs. */
export async function openMatches(iterators: KeyIterators, scan: GatedScan, part: OpenPart): Promise<number> {
  const { gate } = scan;
  if (gate.ranges?.length === 0) return 0;
  const { isWhole, count, read } = part.isWhole ? nothing : await sampled(iterators, scan, gate);
  if (isWhole) return count;
  if (part.isWhole || (await part.spend(read - count, count < enoughCounted ? exactUpTo : 0))) {
    let found = 0;
    await takeBehind(part, { ...scan, unique: undefined }, { last: '', take: () => found++ });
    return found;
  }
  // What has no open match among those that were read counts as what is not there.
  if (count === 0) return 0;
  const share = count / read;
  return Math.max(count, roughly(((await sizeOf(iterators, scan, gate)) / bytesPerKey) * share));
}

const nothing = { isWhole: false, count: 0, read: 0 };

/** The first keys of a scan. */
async function sampled(iterators: KeyIterators, scan: Scan, gate: GraphGate): Promise<typeof nothing> {
  const { index, prefix } = scan.range;
  return iterators.lend(index, async (iterator) => {
    iterator.seek(startOf(scan, gate));
    let [count, read] = [0, 0];
    for (;;) {
      const keys = await iterator.nextv(maxCounted);
      const own = keys.slice(0, keys.findLastIndex((key) => key.startsWith(prefix)) + 1);
      await eachMatch({ ...scan, unique: undefined }, own, () => count++);
      read += own.length;
      const to = own.length > 0 ? leapOf(scan, gate, own) : undefined;
      if (own.length < keys.length || keys.length === 0 || (to !== undefined && !to.startsWith(prefix)))
        return { isWhole: true, count, read };
      if (count >= enoughCounted || read >= maxRead) return { isWhole: false, count, read };
      if (to !== undefined) iterator.seek(to);
    }
  });
}

async function sizeOf(iterators: KeyIterators, scan: Scan, { ranges }: GraphGate): Promise<number> {
  const { prefix } = scan.range;
  if (!isByGraph(scan) || !ranges || ranges.length > maxSized) return iterators.sizeOf(prefix);
  const sizes = ranges.map(({ from, to }) => iterators.sizeBetween(prefix + inKeys(from), prefix + inKeys(to)));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** A power of two, so that what is closed changes the order of joins only where it changes much. */
export const roughly = (count: number): number => 2 ** Math.round(Math.log2(Math.max(1, count)));
