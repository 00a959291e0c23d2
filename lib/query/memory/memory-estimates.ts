/**
 * How many matches scans have: counted where the quads to look at are few, extrapolated from samples where they are many. It must not know
 * who may read what, or what estimates are used for.
 */
import { roughly } from '../access/estimates.js';
import type { GraphVerdicts } from './graph-decisions.js';
import { ended, type LayerScan, type MatchScan, stopped } from './layer-scan.js';

/** Up to so many quads are counted one by one, `atATime` of them between two looks at `maxDecided`. */
const maxCounted = 2048;
const atATime = 64;
/** Counting is given up for samples when it has had more graphs decided than these. */
const maxDecided = 64;
/** Rounds of evenly spaced samples: how many, their length in quads, and the matches with which no closer round is needed. */
const samples = [
  { count: 16, length: 4, enough: 8 },
  { count: 32, length: 4, enough: 4 },
  { count: 32, length: 32, enough: 0 },
] as const;

/** @param verdicts on the graphs of the scans */
export async function estimated(scans: readonly LayerScan[], verdicts: GraphVerdicts): Promise<number> {
  const length = scans.reduce((sum, scan) => sum + scan.length, 0);
  if (length <= maxCounted) {
    const count = await countedAll(scans, verdicts);
    if (count !== undefined) return count;
  }
  let count = 0;
  for (const scan of scans) count += await judged(scan, verdicts);
  // A pattern without an open match in the samples gets the estimate of a pattern without any match.
  return count === 0 ? 0 : roughly(count);
}

/** `undefined` when too many graphs would have to be decided. */
async function countedAll(scans: readonly LayerScan[], verdicts: GraphVerdicts): Promise<number | undefined> {
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

async function counted(scan: LayerScan, verdicts: GraphVerdicts): Promise<number> {
  let count = 0;
  for (let found = scan.next(); found !== ended; found = scan.next())
    if (found === stopped) await verdicts.ask();
    else count++;
  return count;
}

async function judged(scan: LayerScan, verdicts: GraphVerdicts): Promise<number> {
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

/** Quads after a place that are searched for a match. */
const maxSearched = 16;

/**
 * Matches at evenly spaced places, each as a scan that is at it.
 * @param verdicts on the graphs of the scans; absent: all are open
 */
export async function sampled(
  scans: readonly LayerScan[],
  verdicts: GraphVerdicts | undefined,
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
