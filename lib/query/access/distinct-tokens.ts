/** The terms of one place of a scan, found by leaping from one to the next where each has many keys. */
import { graphAt } from './key-reader.js';
import type { Scan } from './scan.js';
import type { ScanRuns } from './scan-runs.js';
import type { TermKey } from './terms.js';

/** The terms in blocks, which come again now and then. The place stands next after the scan's prefix. */
export async function* distinctTokens(runs: ScanRuns, scan: Scan, place: number): AsyncGenerator<TermKey[]> {
  const { range, reader } = scan;
  let found = new Set<TermKey>();
  const tokenIn = (key: string): TermKey | undefined => (reader.read(key, '') ? reader.token(place) : undefined);
  const leap = (keys: readonly string[]): string | undefined => {
    const last = tokenIn(keys.at(-1)!)!;
    // A whole block of one term that is found already: what else has it need not be read.
    return found.has(last) && tokenIn(keys[0]!) === last ? `${range.prefix}${last}\u0000\u0001` : undefined;
  };
  for await (const _ of runs.run({ ...scan, unique: undefined }, () => found.add(reader.token(place)), leap)) {
    yield [...found];
    found = new Set();
  }
}

/** The graphs of scans of one graph each, as far as they have a match. */
export async function* graphsWithMatches(runs: ScanRuns, scans: readonly Scan[]): AsyncGenerator<TermKey[]> {
  for (const scan of scans) {
    let isFound = false;
    for await (const _ of runs.run(scan, () => {
      isFound = true;
    }))
      if (isFound) break;
    if (isFound) yield [scan.bound[graphAt]!];
  }
}
