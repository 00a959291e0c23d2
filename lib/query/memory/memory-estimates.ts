/**
 * Estimates the count of matches of scans. Few quads are counted. For many quads, samples are extrapolated. Must not depend on
 * permissions or on the use of the estimates.
 */
import { roughly } from '../access/estimates.js';
import type { GraphDecisions } from './graph-decisions.js';
import { ended, type LayerScan, type MatchScan, stopped } from './layer-scan.js';

/** Maximum count of quads in which matches are counted. The limit `maxDecided` is checked after every `atATime` quads. */
const maxCounted = 2048;
export const atATime = 64;
/** Counts below this limit are exact. Greater counts are rounded, because with many unreadable quads they are extrapolated. */
const leastRounded = 32;
/** Maximum count of graphs to decide for a count of matches. Above it, samples are used. */
const maxDecided = 64;
/** Rounds of evenly spaced samples: count, length in quads, and count of matches from which no further round is needed. */
const samples = [
  { count: 16, length: 4, enough: 8 },
  { count: 32, length: 4, enough: 4 },
  { count: 32, length: 32, enough: 0 },
] as const;

/** Returns the estimated count of matches of all scans together. @param verdicts decisions on the graphs of the scans */
export async function estimated(scans: readonly LayerScan[], verdicts: GraphDecisions): Promise<number> {
  const length = scans.reduce((sum, scan) => sum + scan.length, 0);
  if (length <= maxCounted) {
    const count = await countedAll(scans, verdicts);
    if (count !== undefined) return roundedCount(count);
  }
  let count = 0;
  for (const scan of scans) count += await judged(scan, verdicts);
  // If no sample has a readable match, the estimate is 0, as for a pattern without matches. It does not reveal unreadable
  // quads.
  return count === 0 ? 0 : roughly(count);
}

export const roundedCount = (count: number): number => (count < leastRounded ? count : roughly(count));

/** Returns the count of matches, or `undefined` if too many graphs would have to be decided. */
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

/** Maximum count of quads that are searched for a match from each sample position. */
const maxSearched = 16;

/**
 * Returns scans positioned at matches, at evenly spaced positions of all quads.
 * @param verdicts decisions on the graphs; `undefined` if all graphs are readable
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
