/**
 * Runs scans over the ordered keys. If every graph is open, all keys of a range are read. If some are closed, seeks skip their
 * keys, and `ReadableSubset` limits the number of keys read without a match.
 */
import { distinctTriples } from './distinct-triples.js';
import type { GraphFilter } from './graph-filter.js';
import { behindGraph, inKeys, rangeAt } from './graph-ranges.js';
import type { KeyIterators } from './key-iterators.js';
import { graphAt, type KeyPrefix } from './key-reader.js';
import { readPrefixes } from './lookups.js';
import { type ReadableSubset, takeBehind } from './readable-subset.js';
import { eachMatch, type Scan, type TakeKey } from './scan.js';

/** Scan and the consumer of its matches. */
export interface ScanOptions {
  readonly scan: Scan;
  /** Returns `false` to end the scan. */
  readonly take: (key: string) => unknown;
}

/** Returns the key to continue at after a block of keys (`undefined`: the next one). */
export type Leap = (keys: readonly string[]) => string | undefined;

/** Continuing at this key ends the scan. No key is greater. */
const end = '\uffff';

export class ScanRuns {
  /** @param part open part of a gate; scans without a gate need none */
  constructor(
    private readonly iterators: KeyIterators,
    private readonly part: (gate: GraphFilter) => ReadableSubset,
  ) {}

  /** Calls `take` for each match, and yields after each block of keys. */
  run(scan: Scan, take: TakeKey, leap?: Leap): AsyncGenerator<void> {
    const { gate } = scan;
    if (!gate) return this.plain(scan, take, leap);
    return gate.ranges?.length === 0 ? nothing() : this.gated({ ...scan, gate }, take, leap);
  }

  /** Runs many small scans concurrently. */
  async runMany(wishes: readonly ScanOptions[]): Promise<void> {
    const wanted: [KeyPrefix, ScanOptions][] = [];
    for (const wish of wishes) {
      const { scan, take } = wish;
      const { gate } = scan;
      if (gate?.ranges?.length === 0) continue;
      if (gate && this.part(gate).isWhole) await takeBehind(this.part(gate), anew(scan), { last: '', take });
      else wanted.push([scan.range, wish]);
    }
    await readPrefixes(this.iterators, wanted, {
      take: (keys, wish) => (wish.scan.gate ? this.takeSome(keys, wish) : takeAll(keys, wish)),
      startOf: ({ scan }) => scan.gate && startOf(scan, scan.gate),
    });
  }

  private async *plain(scan: Scan, take: TakeKey, leap?: Leap): AsyncGenerator<void> {
    const { prefix } = scan.range;
    let to: string | undefined;
    for await (const keys of leap ? this.iterators.leaps(prefix, () => to) : this.iterators.blocks(prefix)) {
      const rest = eachMatch(scan, keys, take);
      if (rest) await rest;
      to = leap?.(keys);
      yield;
    }
  }

  private async *gated(scan: GatedScan, take: TakeKey, leap?: Leap): AsyncGenerator<void> {
    const { gate } = scan;
    const open = this.part(gate);
    let [last, to]: [string, string | undefined] = ['', undefined];
    if (!open.isWhole)
      for await (const keys of this.iterators.steps(scan.range.prefix, startOf(scan, gate), () => to)) {
        let wasted = keys.length;
        await eachMatch(scan, keys, (key) => {
          wasted--;
          take(key);
        });
        last = keys.at(-1)!;
        to = leapOf(scan, gate, keys) ?? leap?.(keys);
        yield;
        if (to !== end && (await open.spend(wasted))) break;
      }
    if (!open.isWhole || to === end) return;
    await takeBehind(open, anew(scan), { last, take });
    yield;
  }

  /** Passes on the matches among the keys of a lookup. Returns the key to continue at, `undefined` for the next one, or `false` at the end. */
  private async takeSome(keys: readonly string[], { scan, take }: ScanOptions): Promise<string | false | undefined> {
    const { gate } = scan;
    let wantsMore = true;
    let wasted = keys.length;
    await eachMatch(scan, keys, (key) => {
      wasted--;
      if (take(key) === false) wantsMore = false;
    });
    if (!wantsMore) return false;
    if (!gate || keys.length === 0) return undefined;
    const to = leapOf(scan, gate, keys);
    if (to === end) return false;
    if (!(await this.part(gate).spend(wasted))) return to;
    await takeBehind(this.part(gate), anew(scan), { last: keys.at(-1)!, take });
    return false;
  }
}

/** Scan with a gate: some of its graphs may be closed. */
export type GatedScan = Scan & { readonly gate: GraphFilter };

function takeAll(keys: readonly string[], { scan, take }: ScanOptions): Promise<void> | false | undefined {
  let wantsMore = true;
  const rest = eachMatch(scan, keys, (key) => {
    if (take(key) === false) wantsMore = false;
  });
  return rest ?? (wantsMore ? undefined : false);
}

async function* nothing(): AsyncGenerator<void> {}

/** Returns the scan for a run from its beginning, with no triple seen yet. */
const anew = (scan: Scan): Scan => (scan.unique ? { ...scan, unique: distinctTriples() } : scan);

/** True if the graph is the next term after the scan's prefix, so that keys of one graph are adjacent. */
export const isByGraph = ({ range: { index, length } }: Scan): boolean => index[length] === 'G';

/** Returns the start of the keys of open graphs. */
export function startOf(scan: Scan, { ranges }: GraphFilter): string {
  const { prefix } = scan.range;
  const [first] = ranges ?? [];
  return first && isByGraph(scan) ? prefix + inKeys(first.from) : prefix;
}

/** With fewer keys to skip, reading them is faster than a seek. */
const leastLeap = 16;

/** Returns the key after closed graphs at which the next open one may begin, `end` if there is none, or `undefined` if a leap does not pay. */
export function leapOf(scan: Scan, { ranges, isOpen }: GraphFilter, keys: readonly string[]): string | undefined {
  if (!isByGraph(scan)) return undefined;
  const { reader, range } = scan;
  const graphOf = (key: string): string | undefined =>
    // A key of other terms with the same characters as the prefix may have its graph at another position.
    reader.read(key, range.suffix) ? reader.token(graphAt) : undefined;
  const last = graphOf(keys.at(-1)!);
  if (last === undefined || isOpen(last) !== false) return undefined;
  const next = ranges && rangeAt(ranges, last);
  if (ranges && !next) return end;
  const first = keys.length < leastLeap ? undefined : graphOf(keys[0]!);
  if (first === undefined) return undefined;
  if (next && next.from > last)
    return rangeAt(ranges!, first) === next && next.from > first ? range.prefix + inKeys(next.from) : undefined;
  return first === last ? range.prefix + behindGraph(last) : undefined;
}
