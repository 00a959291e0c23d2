/**
 * Estimates the number of matches of scans: counted for few quads, extrapolated from samples for many. Must not depend on
 * permissions or on the use of the estimates.
 */
import { roughly } from '../access/estimates.js';
import type { GraphDecisions } from './graph-decisions.js';
import { ended, type LayerScan, type MatchScan, stopped } from './layer-scan.js';

/** Maximum number of quads that are counted. `maxDecided` is checked after every `atATime` quads. */
const maxCounted = 2048;
export const atATime = 64;
/** Numbers of matches below it are exact. Others are rounded, because more unreadable quads would make them extrapolated. */
const leastRounded = 32;
/** Maximum number of graphs decided for a count. Beyond it, samples are used. */
const maxDecided = 64;
/** Rounds of evenly spaced samples: their number, their length in quads, and the number of matches that makes a closer round unnecessary. */
const samples = [
  { count: 16, length: 4, enough: 8 },
  { count: 32, length: 4, enough: 4 },
  { count: 32, length: 32, enough: 0 },
] as const;

/** @param verdicts for the graphs of the scans */
export async function estimated(scans: readonly LayerScan[], verdicts: GraphDecisions): Promise<number> {
  const length = scans.reduce((sum, scan) => sum + scan.length, 0);
  if (length <= maxCounted) {
    const count = await countedAll(scans, verdicts);
    if (count !== undefined) return roundedCount(count);
  }
  let count = 0;
  for (const scan of scans) count += await judged(scan, verdicts);
  // A pattern without an open match in the samples gets the same estimate as one without any match.
  return count === 0 ? 0 : roughly(count);
}

export const roundedCount = (count: number): number => (count < leastRounded ? count : roughly(count));

/** Returns `undefined` if too many graphs would have to be decided. */
async function countedAll(scans: readonly LayerScan[], verdicts: GraphDecisions): Promise<number | undefined> {
  const before = verdicts.decided;
  let count = 0;
  for (const scan of scans) {
    const { from, to } = scan.range;
    for (let at = from; at < to; at += atATime) {
      count += await counted(scan.within(at, Math.min(to, at + atATime)), verdicts);
      if (verdicts.decided - before > maxDecided) return undefined;
    }
  }
  return count;
}

async function counted(scan: LayerScan, verdicts: GraphDecisions): Promise<number> {
  let count = 0;
  for (let found = scan.next(); found !== ended; found = scan.next())
    if (found === stopped) await verdicts.ask();
    else count++;
  return count;
}

async function judged(scan: LayerScan, verdicts: GraphDecisions): Promise<number> {
  for (const { count, length, enough } of samples) {
    if (scan.length <= count * length) return counted(scan, verdicts);
    let found = 0;
    for (let sample = 0; sample < count; sample++) {
      const from = scan.range.from + Math.floor((sample * (scan.length - length)) / (count - 1));
      found += await counted(scan.within(from, from + length), verdicts);
    }
    if (found >= enough) return (found * scan.length) / (count * length);
  }
  return 0;
}

/** Number of quads searched for a match from each sample position. */
const maxSearched = 16;

/**
 * Returns matches at evenly spaced positions, each as a scan positioned at it.
 * @param verdicts for the graphs of the scans (default: all) are open
 */
export async function sampled(
  scans: readonly LayerScan[],
  verdicts: GraphDecisions | undefined,
  most: number,
): Promise<readonly MatchScan[]> {
  const length = scans.reduce((sum, scan) => sum + scan.length, 0);
  const found: MatchScan[] = [];
  let before = 0;
  let sample = 0;
  for (const scan of scans) {
    const { from, to } = scan.range;
    for (; sample < most; sample++) {
      const at = from + Math.floor(((sample + 0.5) * length) / most) - before;
      if (at >= to) break;
      const own = scan.within(at, Math.min(to, at + maxSearched));
      let next = own.next();
      for (; next === stopped; next = own.next()) await verdicts?.ask();
      if (next !== ended) found.push(own);
    }
    before += scan.length;
  }
  return found;
}
