/**
 * Quads of the caller's dataset that match given terms: streamed, looked up in batches, counted and estimated. Must not depend on
 * variables, joins or queries.
 */
import { addNew } from './collections.js';
import { keysBehind, openMatches } from './estimates.js';
import { type DatasetGraphs, type DatasetPart, type GraphFilter, graphFilter } from './graph-filter.js';
import type { KeyIterators } from './key-iterators.js';
import { graphAt, keyPrefix, type Terms, wholeKey } from './key-reader.js';
import { readPrefixes } from './lookups.js';
import { ReadableSubset } from './readable-subset.js';
import { type Among, canMatch, eachMatch, type Scan, termsOf } from './scan.js';
import { type ScanOptions, ScanRuns } from './scan-runs.js';
import { decided, fewGraphs, Scans } from './scans.js';
import { joinTokens, type TermKey } from './terms.js';

/** Yields the terms of a position in blocks. A term may repeat in a later block. The position is the next one after the scan's prefix. */
async function* distinctTokens(runs: ScanRuns, scan: Scan, place: number): AsyncGenerator<TermKey[]> {
  const { range, reader } = scan;
  let found = new Set<TermKey>();
  const tokenIn = (key: string): TermKey | undefined => (reader.read(key, '') ? reader.token(place) : undefined);
  const leap = (keys: readonly string[]): string | undefined => {
    const last = tokenIn(keys.at(-1)!)!;
    // The whole block has one term, which is already found: skip its other keys.
    return found.has(last) && tokenIn(keys[0]!) === last ? `${range.prefix}${last}\u0000\u0001` : undefined;
  };
  for await (const _ of runs.run({ ...scan, unique: undefined }, () => found.add(reader.token(place)), leap)) {
    yield [...found];
    found = new Set();
  }
}

/** Yields the graphs that have a match. Each scan is of one graph. */
async function* graphsWithMatches(runs: ScanRuns, scans: readonly Scan[]): AsyncGenerator<TermKey[]> {
  for (const scan of scans) {
    let isFound = false;
    for await (const _ of runs.run(scan, () => {
      isFound = true;
    }))
      if (isFound) break;
    if (isFound) yield [scan.bound[graphAt]!];
  }
}

/**
 * `even` regroups blocks into fixed lengths. Their original lengths depend on the number of skipped closed quads, which the row
 * order of a blockwise operator would reveal. Pure.
 */
const firstLength = 64;
const maxLength = 2048;

/** Yields the same items, in short blocks first, because the first block may be enough. */
async function* even<T>(blocks: AsyncIterable<readonly T[]>): AsyncGenerator<T[]> {
  let length = firstLength;
  let waiting: T[] = [];
  for await (const block of blocks) {
    for (const item of block) {
      waiting.push(item);
      if (waiting.length < length) continue;
      yield waiting;
      waiting = [];
      length = Math.min(maxLength, 4 * length);
    }
  }
  if (waiting.length > 0) yield waiting;
}

/** Required parts of the matches of a pattern. */
export interface MatchOptions {
  readonly part: DatasetPart;
  /** Positions (S, P, O, G) whose terms are required. */
  readonly places: readonly number[];
  readonly among?: Among | undefined;
  /** True if other patterns of the query look up the same subjects. */
  readonly isStar?: boolean | undefined;
}

/** Cost of a read, relative to reading one key in a scan. */
interface Costs {
  readonly lookUp: number;
  /** Existence check of a quad, without iterator. */
  readonly quad: number;
  /** Lookup with `isStar`. */
  readonly subject: number;
}

/** Called in every block with the number of matches or rows. Throws to stop the query. */
export type AssertTime = (work?: number) => void;

export interface QuadMatches {
  readonly costs: Costs;
  /** False if estimates are extrapolated from keys that include unreadable graphs. */
  readonly estimatesReadable: boolean;
  stream(bound: Terms, wanted: MatchOptions): AsyncGenerator<Terms[]>;
  /** Returns the matches of each pattern, in order. */
  lookUp(bounds: readonly Terms[], wanted: MatchOptions): Promise<Terms[][]>;
  count(bound: Terms, part: DatasetPart): Promise<number>;
  /** Yields the terms of a position in blocks, possibly repeated. In one of the indexes, the position is the next one after the bound terms. */
  distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<TermKey[]>;
  /**
   * Returns the approximate number of matches: all keys if every graph is open, exact for small numbers, otherwise matches in
   * open graphs.
   * @param part default: `named`
   */
  estimate(bound: Terms, part?: DatasetPart): Promise<number>;
  /** Returns some of the matches, evenly distributed if possible. */
  sample(bound: Terms, wanted: MatchOptions, most: number): Promise<Terms[]>;
  close(): Promise<void>;
}

export class KeyMatches implements QuadMatches {
  readonly costs: Costs;
  readonly estimatesReadable: boolean;
  private readonly all: boolean;
  private readonly gates: Readonly<Record<DatasetPart, GraphFilter>>;
  private readonly scans: Scans;
  private readonly runs: ScanRuns;
  private readonly openParts = new Map<GraphFilter, ReadableSubset>();
  private readonly bySubject = new Map<DatasetPart, SubjectKeys>();

  constructor(
    graphs: DatasetGraphs,
    private readonly iterators: KeyIterators,
  ) {
    this.all = graphs.readable.all;
    this.estimatesReadable = this.all;
    this.costs = this.all ? costs : gatedCosts;
    this.gates = { union: graphFilter(graphs, 'union'), named: graphFilter(graphs, 'named') };
    this.scans = new Scans(this.gates);
    this.runs = new ScanRuns(iterators, (gate) => this.openPart(gate));
  }

  async *stream(bound: Terms, wanted: MatchOptions): AsyncGenerator<Terms[]> {
    if (canMatch(bound)) yield* this.all ? this.found(bound, wanted) : even(this.found(bound, wanted));
  }

  async lookUp(bounds: readonly Terms[], wanted: MatchOptions): Promise<Terms[][]> {
    const own = await decided(this.gates[wanted.part], bounds);
    if (!isComplete(own[0]!)) return this.lookedUp(own, wanted);
    // Fully bound quads are read by key, without iterator.
    return own.map((bound) => (canMatch(bound) && this.iterators.hasKey(wholeKey(bound)) ? [bound] : []));
  }

  async count(bound: Terms, part: DatasetPart): Promise<number> {
    let count = 0;
    if (!canMatch(bound)) return count;
    const gate = this.gates[part];
    const [own] = await decided(gate, [bound]);
    for (const scan of this.scans.all(own!, part, { few: await fewGraphs(gate) })) {
      const isPlain = !scan.gate && !scan.unique && scan.range.suffix === '' && scan.range.others.length === 0;
      if (isPlain) for await (const keys of this.iterators.blocks(scan.range.prefix)) count += keys.length;
      else
        for await (const _ of this.runs.run(scan, () => count++)) {
        }
    }
    return count;
  }

  async *distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<TermKey[]> {
    if (!canMatch(bound)) return;
    const { runs, scans } = this;
    const few = place === graphAt ? await fewGraphs(this.gates[part]) : undefined;
    if (few) return yield* graphsWithMatches(runs, scans.all(bound, part, { few }));
    const order = place === graphAt ? 'GSPO' : bound[0] === undefined ? 'POGS' : 'SPOG';
    const terms = distinctTokens(runs, scans.one(bound, part, { order }), place);
    yield* this.all ? terms : even(terms);
  }

  async estimate(bound: Terms, part: DatasetPart = 'named'): Promise<number> {
    if (!canMatch(bound)) return 0;
    const { iterators } = this;
    const gate = this.gates[part];
    const [own] = await decided(gate, [bound]);
    if (gate.all || own![graphAt] !== undefined) return keysBehind(iterators, keyPrefix(own!, false));
    const few = await fewGraphs(gate);
    if (!few) return openMatches(iterators, { ...this.scans.one(own!, part), gate }, this.openPart(gate));
    const some = few.slice(0, maxEstimated).map((graph) => keyPrefix([own![0], own![1], own![2], graph], false));
    const counts = await Promise.all(some.map((range) => keysBehind(iterators, range)));
    return counts.reduce((sum, count) => sum + count, 0) * (few.length / Math.max(1, some.length));
  }

  async sample(bound: Terms, wanted: MatchOptions, most: number): Promise<Terms[]> {
    for await (const block of this.stream(bound, wanted)) {
      const step = Math.ceil(block.length / most);
      return block.filter((_terms, at) => at % step === 0);
    }
    return [];
  }

  close(): Promise<void> {
    return this.iterators.close();
  }

  private openPart(gate: GraphFilter): ReadableSubset {
    const part = this.openParts.get(gate) ?? new ReadableSubset(this.iterators, gate);
    this.openParts.set(gate, part);
    return part;
  }

  /** Returns the cached keys of subjects in open graphs. */
  private subjectsOf(part: DatasetPart): SubjectKeys {
    const keys = this.bySubject.get(part) ?? subjectKeys((lists) => this.readSubjects(lists, part));
    this.bySubject.set(part, keys);
    return keys;
  }

  private async readSubjects(lists: readonly SubjectList[], part: DatasetPart): Promise<void> {
    const scanOf = ({ subject }: SubjectList): Scan => ({ ...this.scans.one([subject], part), unique: undefined });
    const all = lists.map((list) => [scanOf(list), list] as const);
    if (this.gates[part].all) {
      const prefixes = all.map(([{ range }, list]) => [range, list] as const);
      await readPrefixes(this.iterators, prefixes, { take: (keys, list) => list.add(keys) });
    } else await this.runs.runMany(all.map(([scan, list]) => ({ scan, take: (key) => list.add([key]) })));
  }

  private async *found(bound: Terms, { part, places, among }: MatchOptions): AsyncGenerator<Terms[]> {
    const gate = this.gates[part];
    const [own] = await decided(gate, [bound]);
    for (const scan of this.scans.all(own!, part, { few: await fewGraphs(gate), among })) {
      let block: Terms[] = [];
      for await (const _ of this.runs.run(scan, () => block.push(termsOf(scan, places)))) {
        if (block.length > 0) yield block;
        block = [];
      }
    }
  }

  /** Returns the matches of each pattern, from the keys of its subject or by a lookup. */
  private async lookedUp(bounds: readonly Terms[], { part, places, isStar }: MatchOptions): Promise<Terms[][]> {
    const { scans } = this;
    const results: Terms[][] = bounds.map(() => []);
    const subjects = isStar && bounds[0]![0] !== undefined ? this.subjectsOf(part) : undefined;
    await subjects?.load(bounds.map(([subject]) => subject!).filter(canBeSubject));
    const few = await fewGraphs(this.gates[part]);
    const wishes: ScanOptions[] = [];
    const severals: (() => void)[] = [];
    for (const [index, bound] of bounds.entries()) {
      if (!canMatch(bound)) continue;
      const matches = results[index]!;
      const keys = subjects?.of(bound[0]!);
      if (keys) {
        const scan: Scan = { ...scans.one(bound, part, { order: 'SPOG' }), gate: undefined };
        const own = keys.filter((key) => key.startsWith(scan.range.prefix));
        eachMatch(scan, own, () => matches.push(termsOf(scan, places)));
      } else {
        const own = scans.all(bound, part, { few });
        if (own.length > 1) severals.push(inTurn(own, { places, matches, wishes }));
        else for (const scan of own) wishes.push({ scan, take: () => matches.push(termsOf(scan, places)) });
      }
    }
    await this.runs.runMany(wishes);
    for (const settle of severals) settle();
    return results;
  }
}

/**
 * Runs scans concurrently and returns their matches in the order of the scans. Closed quads change the duration of a scan, and
 * must not change the order of rows.
 * @returns passes on the matches after all have been read
 */
function inTurn(
  scans: readonly Scan[],
  {
    places,
    matches,
    wishes,
  }: { readonly places: readonly number[]; readonly matches: Terms[]; readonly wishes: ScanOptions[] },
): () => void {
  const isUnique = scans[0]!.unique !== undefined;
  const found = scans.map((): (readonly [terms: Terms, triple: string])[] => []);
  for (const [at, scan] of scans.entries()) {
    const triple = (): string => (isUnique ? joinTokens(termsOf(scan, triplePlaces), triplePlaces) : '');
    const take = (): unknown => found[at]!.push([termsOf(scan, places), triple()]);
    wishes.push({ scan: { ...scan, unique: undefined }, take });
  }
  return () => {
    const seen = new Set<string>();
    for (const [terms, triple] of found.flat()) if (!isUnique || addNew(seen, triple)) matches.push(terms);
  };
}

const triplePlaces = [0, 1, 2];

const costs: Costs = { lookUp: 25, quad: 5, subject: 15 };
/** A scan also reads closed quads. A plan must not reveal their number: these costs assume as many as there are open ones. */
const gatedCosts: Costs = { lookUp: 12, quad: 3, subject: 8 };
/** Maximum number of graphs counted in an estimate over several graphs. The rest is extrapolated. */
const maxEstimated = 8;

const canBeSubject = (token: TermKey): boolean => canMatch([token, undefined, undefined, undefined]);
/** Checks the first pattern only: patterns of a batch have the same bound positions. */
const isComplete = (bound: Terms): boolean => bound.every((token) => token !== undefined);

/** Maximum number of cached keys of a subject. Each pattern reads larger subjects again. */
const maxOfSubject = 256;
/** Maximum number of keys in the cache. If it is exceeded, the cache is emptied before the next load. */
const maxKept = 200_000;

interface SubjectKeys {
  /** Reads the keys of the subjects that are not cached yet. */
  load(subjects: Iterable<TermKey>): Promise<void>;
  /** Returns the subject's keys of the index SPOG, or `undefined` if it has too many. */
  of(subject: TermKey): readonly string[] | undefined;
}

/** Keys of a subject, in blocks. */
interface SubjectList {
  readonly subject: TermKey;
  /** Returns false if the subject has too many keys and no more are needed. */
  add(keys: readonly string[]): boolean;
}

/** @param read reads the keys of several subjects, each into its list */
function subjectKeys(read: (lists: readonly SubjectList[]) => Promise<void>): SubjectKeys {
  const known = new Map<TermKey, readonly string[] | undefined>();
  let kept = 0;
  return {
    async load(subjects) {
      const missing = [...new Set(subjects)].filter((subject) => !known.has(subject));
      if (missing.length === 0) return;
      if (kept > maxKept) {
        known.clear();
        kept = 0;
      }
      const found = new Map<TermKey, string[]>(missing.map((subject) => [subject, []]));
      const lists = [...found].map(([subject, own]) => ({
        subject,
        add(keys: readonly string[]) {
          for (const key of keys) own.push(key);
          return own.length <= maxOfSubject;
        },
      }));
      await read(lists);
      for (const [subject, keys] of found) {
        kept += keys.length;
        known.set(subject, keys.length > maxOfSubject ? undefined : keys);
      }
    },
    of: (subject) => known.get(subject),
  };
}
