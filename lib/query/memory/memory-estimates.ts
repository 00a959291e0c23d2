/**
 * How many matches scans have: counted where they are few, and judged by samples where they are many. It must not know who may read
 * what, or what estimates are used for.
 */
import { roughly } from '../access/estimates.js';
import { ended, type LayerScan, stopped } from './layer-scan.js';

/** Up to so many quads are looked at, one by one. */
const mostCounted = 8192;
const samples = 16;
const sampleLength = 64;

/** @param ask asks for graphs that a scan has stopped at */
export async function estimated(scans: readonly LayerScan[], ask: () => Promise<void>): Promise<number> {
  const length = scans.reduce((sum, scan) => sum + scan.length, 0);
  let count = 0;
  for (const scan of scans) count += length <= mostCounted ? await counted(scan, ask) : await judged(scan, ask);
  // What has no open match in its samples counts as what is not there.
  return length <= mostCounted || count === 0 ? count : roughly(count);
}

async function counted(scan: LayerScan, ask: () => Promise<void>): Promise<number> {
  let count = 0;
  for (let found = scan.next(); found !== ended; found = scan.next())
    if (found === stopped) await ask();
    else count++;
  return count;
}

/** Samples stand evenly in what is scanned, in which quads of a graph may stand together. */
async function judged(scan: LayerScan, ask: () => Promise<void>): Promise<number> {
  if (scan.length <= samples * sampleLength) return counted(scan, ask);
  let count = 0;
  for (let sample = 0; sample < samples; sample++) {
    const from = scan.range.from + Math.floor((sample * (scan.length - sampleLength)) / (samples - 1));
    count += await counted(scan.within(from, from + sampleLength), ask);
  }
  return (count * scan.length) / (samples * sampleLength);
}
