/**
 * The quads of the caller's dataset that match given terms: streamed, looked up many at once, counted and estimated. It must
 * not know variables, joins or queries.
 */
import { graphPrefix, type IndexName } from '../../../lib/storage/quad-keys.js';
import { rangeOf } from '../../../lib/storage/records.js';
import type { DatasetOptions } from '../dataset.js';
import { type DistinctTriples, distinctEverywhere, distinctTriples } from './distinct-triples.js';
import { type DatasetPart, type GraphGate, graphGate } from './graph-gate.js';
import { type KeyIterators, keyIterators } from './key-iterators.js';
import { graphAt, type KeyPrefix, KeyReader, keyPrefix, type Terms, wholeKey } from './key-reader.js';
import { isIri } from './terms.js';

/** What is matched: bound terms, and what is wanted of the others. */
export interface Wanted {
  readonly part: DatasetPart;
  /** The places (S, P, O, G) whose terms are wanted. */
  readonly places: readonly number[];
}

export interface QuadMatches {
  stream(bound: Terms, wanted: Wanted): AsyncGenerator<Terms[]>;
  /** The matches of each, in the order given. */
  lookUp(bounds: readonly Terms[], wanted: Wanted): Promise<Terms[][]>;
  count(bound: Terms, part: DatasetPart): Promise<number>;
  /** How many keys there are, readable or not; exact for a few. */
  estimate(bound: Terms): Promise<number>;
  close(): Promise<void>;
}

/** Lookups that run side by side, each with an iterator of its own. */
const lanes = 8;
/** Up to so many keys are counted. */
const mostCounted = 256;
/** What LevelDB's compressed tables take for a key, about. */
const bytesPerKey = 34;

export function quadMatches(options: DatasetOptions, assertTime: () => void): QuadMatches {
  const iterators = keyIterators(options.level, options.snapshot, assertTime);
  const gates = { union: graphGate(options, 'union'), named: graphGate(options, 'named') };
  const readers = new Map<IndexName, KeyReader>();
  const readerOf = (index: IndexName): KeyReader => {
    let reader = readers.get(index);
    if (!reader) {
      reader = new KeyReader(index);
      readers.set(index, reader);
    }
    return reader;
  };
  const scanOf = (bound: Terms, part: DatasetPart, unique?: DistinctTriples): Scan => {
    const grouped = part === 'union' && bound[graphAt] === undefined;
    const range = keyPrefix(bound, grouped);
    return {
      range,
      bound,
      reader: readerOf(range.index),
      gate: gates[part].all ? undefined : gates[part],
      unique: unique ?? (grouped ? distinctTriples() : undefined),
    };
  };
  /** One scan, or one for each graph when there are few. */
  const scansOf = (bound: Terms, part: DatasetPart): Scan[] => {
    const { few } = gates[part];
    if (bound[graphAt] !== undefined || !few) return [scanOf(bound, part)];
    const unique = part === 'union' && few.length > 1 ? distinctEverywhere() : undefined;
    return few.map((graph) => scanOf([bound[0], bound[1], bound[2], graph], part, unique));
  };
  return {
    async *stream(bound, { part, places }) {
      if (!canMatch(bound)) return;
      for (const scan of scansOf(bound, part))
        for await (const keys of iterators.blocks(scan.range.prefix)) {
          const found: Terms[] = [];
          await eachMatch(scan, keys, () => found.push(termsOf(scan, places)));
          if (found.length > 0) yield found;
        }
    },
    lookUp: (bounds, { part, places }) => {
      if (isComplete(bounds[0]!)) return complete(iterators, gates[part], bounds);
      const jobs = bounds.map((bound, index) => ({ index, scans: canMatch(bound) ? scansOf(bound, part) : [] }));
      return inLanes(inKeyOrder(jobs), async (scans, size) => {
        const found: Terms[] = [];
        for (const scan of scans) await lookUpOne(iterators, scan, size, () => found.push(termsOf(scan, places)));
        return found;
      });
    },
    async count(bound, part) {
      let count = 0;
      if (!canMatch(bound)) return count;
      for (const scan of scansOf(bound, part)) {
        const isPlain = !scan.gate && !scan.unique && scan.range.suffix === '' && scan.range.others.length === 0;
        for await (const keys of iterators.blocks(scan.range.prefix)) {
          if (isPlain) count += keys.length;
          else await eachMatch(scan, keys, () => count++);
        }
      }
      return count;
    },
    estimate: (bound) => (canMatch(bound) ? estimate(options, iterators, keyPrefix(bound, false)) : Promise.resolve(0)),
    close: () => iterators.close(),
  };
}

/** Bounds that are looked up together have the same places bound. */
const isComplete = (bound: Terms): boolean => bound.every((token) => token !== undefined);

/** Whole quads are asked for by their keys, which needs no iterator. */
async function complete(iterators: KeyIterators, gate: GraphGate, bounds: readonly Terms[]): Promise<Terms[][]> {
  const graphs = new Set(bounds.map((bound) => bound[graphAt]!));
  const open = [...graphs].filter((graph) => isIri(graph) && gate.isOpen(graph) === undefined);
  if (open.length > 0) await gate.ask(open);
  return bounds.map((bound) =>
    canMatch(bound) && gate.isOpen(bound[graphAt]!) === true && iterators.hasKey(wholeKey(bound)) ? [bound] : [],
  );
}

interface Scan {
  readonly range: KeyPrefix;
  readonly bound: Terms;
  readonly reader: KeyReader;
  readonly gate: GraphGate | undefined;
  readonly unique: DistinctTriples | undefined;
}

/** Literals are objects only, and predicates and graphs are IRIs. */
const canMatch = ([subject, predicate, , graph]: Terms): boolean =>
  (subject === undefined || isIri(subject) || subject.charCodeAt(1) === 49) &&
  (predicate === undefined || isIri(predicate)) &&
  (graph === undefined || isIri(graph));

function termsOf({ bound, reader }: Scan, places: readonly number[]): Terms {
  const terms: Terms = [undefined, undefined, undefined, undefined];
  for (const place of places) terms[place] = bound[place] ?? reader.token(place);
  return terms;
}

/** Calls for each key that matches, the reader being on it. Graphs that are not decided yet are asked for together. */
async function eachMatch(scan: Scan, keys: readonly string[], take: () => void): Promise<void> {
  let at = 0;
  for (;;) {
    at = takeMatches(scan, keys, at, take);
    if (at === keys.length) return;
    await scan.gate!.ask(undecided(scan, keys, at));
  }
}

/** Returns where it had to stop for an undecided graph, or the end. */
function takeMatches(scan: Scan, keys: readonly string[], from: number, take: () => void): number {
  const { range, bound, reader, gate, unique } = scan;
  const { suffix, others } = range;
  // Where the graph comes first, keys of one graph stand together, and need not be read when it is closed.
  const isByGraph = range.index === 'GSPO';
  let graphHead = '\u0000';
  let isOpen: boolean | undefined;
  for (let i = from; i < keys.length; i++) {
    const key = keys[i]!;
    const isSameGraph = isByGraph && gate !== undefined && key.startsWith(graphHead);
    if (isSameGraph && isOpen === false) continue;
    if (!reader.read(key, suffix)) continue;
    if (others.length > 0 && !others.every((place) => reader.token(place) === bound[place])) continue;
    if (gate && !isSameGraph) {
      const graph = reader.token(graphAt);
      isOpen = gate.isOpen(graph);
      if (isOpen === undefined) return i;
      if (isByGraph) graphHead = graphPrefix(graph);
      if (!isOpen) continue;
    }
    if (unique && !unique.isNew(reader, key)) continue;
    take();
  }
  return keys.length;
}

function undecided({ range, reader, gate }: Scan, keys: readonly string[], from: number): string[] {
  const graphs = new Set<string>();
  for (const key of keys.slice(from)) if (reader.read(key, range.suffix)) graphs.add(reader.token(graphAt));
  return [...graphs].filter((graph) => gate!.isOpen(graph) === undefined);
}

/** Reads what begins with the prefix through a lent iterator. Returns how many keys it read. */
async function lookUpOne(iterators: KeyIterators, scan: Scan, size: { keys: number }, take: () => void): Promise<void> {
  const { index, prefix } = scan.range;
  await iterators.lend(index, async (iterator) => {
    iterator.seek(prefix);
    let read = 0;
    for (let ask = size.keys; ; ask = 1000) {
      const keys = await iterator.nextv(ask);
      let count = keys.length;
      while (count > 0 && !keys[count - 1]!.startsWith(prefix)) count--;
      read += count;
      await eachMatch(scan, count === keys.length ? keys : keys.slice(0, count), take);
      // LevelDB may give fewer than were asked for; only none, or a key behind the prefix, is the end.
      if (keys.length === 0 || count < keys.length) break;
    }
    size.keys = Math.min(1000, Math.max(2, Math.ceil((size.keys + read * 1.5 + 1) / 2)));
  });
}

interface Job {
  readonly index: number;
  readonly scans: readonly Scan[];
}

/** Keys that lie near each other are read one after the other. */
function inKeyOrder(jobs: Job[]): Job[] {
  const prefixOf = ({ scans }: Job): string => scans[0]?.range.prefix ?? '';
  return jobs.sort((a, b) => (prefixOf(a) < prefixOf(b) ? -1 : 1));
}

/** Does the work for all jobs, side by side, and gives the results by their indexes. */
async function inLanes<Result>(
  jobs: readonly Job[],
  work: (scans: readonly Scan[], size: { keys: number }) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(jobs.length);
  const share = Math.ceil(jobs.length / lanes);
  const run = async (from: number): Promise<void> => {
    const size = { keys: 4 };
    for (const { index, scans } of jobs.slice(from, from + share)) results[index] = await work(scans, size);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, jobs.length) }, (_, lane) => run(lane * share)));
  return results;
}

async function estimate(
  { level }: DatasetOptions,
  iterators: KeyIterators,
  { index, prefix }: KeyPrefix,
): Promise<number> {
  const counted = await iterators.lend(index, async (iterator) => {
    iterator.seek(prefix);
    // LevelDB gives fewer than are asked for when they are long.
    for (let count = 0; ; ) {
      const keys = await iterator.nextv(mostCounted);
      const own = keys.findLastIndex((key) => key.startsWith(prefix)) + 1;
      count += own;
      if (own < keys.length || keys.length === 0 || count >= mostCounted) return count;
    }
  });
  if (counted < mostCounted) return counted;
  const sizes = level as { approximateSize?: (from: string, to: string) => Promise<number> };
  const { gte, lt } = rangeOf(prefix);
  const bytes = await sizes.approximateSize?.(gte, lt);
  return Math.max(counted, Math.round((bytes ?? 0) / bytesPerKey));
}
