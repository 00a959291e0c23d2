/**
 * Estimates the number of matches of a scan, exactly for small numbers. If some graphs are closed, only matches in open graphs
 * count, and a large number is extrapolated from the first keys.
 */
import type { GraphFilter } from './graph-filter.js';
import { inKeys } from './graph-ranges.js';
import { bytesPerKey, type KeyIterators } from './key-iterators.js';
import type { KeyPrefix } from './key-reader.js';
import { type ReadableSubset, takeBehind } from './readable-subset.js';
import { eachMatch, type Scan } from './scan.js';
import { type GatedScan, isByGraph, leapOf, startOf } from './scan-runs.js';

/** Maximum number of keys that are counted. Larger estimates use the size. Also the number of keys per read. */
const maxCounted = 64;
/** With closed graphs, sampling ends after this number of open matches, or after `maxRead` keys. */
const enoughCounted = 32;
const maxRead = 128;
/** If the sample had fewer open matches, the keys of all open graphs are collected for an exact count, up to this cost in keys. */
const exactUpTo = 1024;
/** With more ranges, uses the size of the whole prefix instead of the sum over the ranges. */
const maxSized = 16;

/** Returns the estimated number of keys with a prefix. */
export async function keysBehind(iterators: KeyIterators, { index, prefix }: KeyPrefix): Promise<number> {
  const counted = await iterators.lend(index, async (iterator) => {
    iterator.seek(prefix);
    // LevelDB returns fewer keys than requested when the keys are long.
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

/** Returns the estimated number of matches of a scan in open graphs. */
export async function openMatches(iterators: KeyIterators, scan: GatedScan, part: ReadableSubset): Promise<number> {
  const { gate } = scan;
  if (gate.ranges?.length === 0) return 0;
  const { isWhole, count, read } = part.isWhole ? nothing : await sampled(iterators, scan, gate);
  if (isWhole) return count;
  if (part.isWhole || (await part.spend(read - count, count < enoughCounted ? exactUpTo : 0))) {
    let found = 0;
    await takeBehind(part, { ...scan, unique: undefined }, { last: '', take: () => found++ });
    return found;
  }
  // A pattern without an open match in the sample gets the same estimate as one without any match.
  if (count === 0) return 0;
  const share = count / read;
  return Math.max(count, roughly(((await sizeOf(iterators, scan, gate)) / bytesPerKey) * share));
}

const nothing = { isWhole: false, count: 0, read: 0 };

/** Counts the open matches among the first keys of a scan. `isWhole`: the scan has no more keys. */
async function sampled(iterators: KeyIterators, scan: Scan, gate: GraphFilter): Promise<typeof nothing> {
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

async function sizeOf(iterators: KeyIterators, scan: Scan, { ranges }: GraphFilter): Promise<number> {
  const { prefix } = scan.range;
  if (!isByGraph(scan) || !ranges || ranges.length > maxSized) return iterators.sizeOf(prefix);
  const sizes = ranges.map(({ from, to }) => iterators.sizeBetween(prefix + inKeys(from), prefix + inKeys(to)));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Rounds to a power of two: the size includes closed quads, and small changes of these must not change the order of joins. */
export const roughly = (count: number): number => 2 ** Math.round(Math.log2(Math.max(1, count)));
