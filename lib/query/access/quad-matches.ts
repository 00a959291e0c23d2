/**
 * The quads of the caller's dataset that match given terms: streamed, looked up many at once, counted and estimated. It must
 * not know variables, joins or queries.
 */
import type { IndexName } from '../../storage/quad-keys.js';
import { type DistinctTriples, distinctEverywhere, distinctTriples } from './distinct-triples.js';
import { type DatasetGraphs, type DatasetPart, type GraphGate, graphGate } from './graph-gate.js';
import type { KeyIterators } from './key-iterators.js';
import { graphAt, type KeyPrefix, KeyReader, keyPrefix, type Terms, wholeKey } from './key-reader.js';
import { readPrefixes } from './lookups.js';
import { type Among, canMatch, eachMatch, type Scan, termsOf } from './scan.js';
import { subjectKeys } from './subject-keys.js';
import { isIri, type Token } from './terms.js';

/** What is matched: bound terms, and what is wanted of the others. */
export interface Wanted {
  readonly part: DatasetPart;
  /** The places (S, P, O, G) whose terms are wanted. */
  readonly places: readonly number[];
  readonly among?: Among | undefined;
  /** Others will ask for the same subjects. */
  readonly isStar?: boolean | undefined;
}

/** What reading costs, in keys of a scan. */
export interface Costs {
  readonly lookUp: number;
  /** A whole quad, which needs no iterator. */
  readonly quad: number;
  /** A lookup with `isStar`. */
  readonly subject: number;
}

export interface QuadMatches {
  readonly costs: Costs;
  stream(bound: Terms, wanted: Wanted): AsyncGenerator<Terms[]>;
  /** The matches of each, in the order given. */
  lookUp(bounds: readonly Terms[], wanted: Wanted): Promise<Terms[][]>;
  count(bound: Terms, part: DatasetPart): Promise<number>;
  /** The terms of the place, which come again now and then; it stands next behind what is bound in an order. */
  distinct(bound: Terms, place: number, part: DatasetPart): AsyncGenerator<Token[]>;
  /** How many keys there are, readable or not; exact for a few. */
  estimate(bound: Terms): Promise<number>;
  close(): Promise<void>;
}

/** Up to so many keys are counted. */
const mostCounted = 64;
/** What LevelDB's compressed tables take for a key, about. */
const bytesPerKey = 34;

export function quadMatches(graphs: DatasetGraphs, iterators: KeyIterators): QuadMatches {
  const gates = { union: graphGate(graphs, 'union'), named: graphGate(graphs, 'named') };
  const readers = new Map<IndexName, KeyReader>();
  const readerOf = (index: IndexName): KeyReader => {
    let reader = readers.get(index);
    if (!reader) {
      reader = new KeyReader(index);
      readers.set(index, reader);
    }
    return reader;
  };
  const scanOf = (bound: Terms, part: DatasetPart, unique?: DistinctTriples, among?: Among): Scan => {
    const grouped = part === 'union' && bound[graphAt] === undefined;
    const range = keyPrefix(bound, grouped);
    return {
      range,
      bound,
      reader: readerOf(range.index),
      gate: gates[part].all ? undefined : gates[part],
      unique: unique ?? (grouped ? distinctTriples() : undefined),
      among,
    };
  };
  /** One scan, or one for each graph when there are few. */
  const scansOf = (bound: Terms, part: DatasetPart, among?: Among): Scan[] => {
    const { few } = gates[part];
    if (bound[graphAt] !== undefined || !few) return [scanOf(bound, part, undefined, among)];
    const unique = part === 'union' && few.length > 1 ? distinctEverywhere() : undefined;
    return few.map((graph) => scanOf([bound[0], bound[1], bound[2], graph], part, unique, among));
  };
  const ofSubjects = subjectKeys(iterators);
  /** The matches among the keys of the subject. */
  const inSubject = (bound: Terms, part: DatasetPart): Scan => ({
    ...scanOf(bound, part),
    range: keyPrefix(bound, false, 'SPOG'),
    reader: readerOf('SPOG'),
  });
  return {
    costs: { lookUp: 25, quad: 5, subject: 15 },
    async *stream(bound, { part, places, among }) {
      if (!canMatch(bound)) return;
      for (const scan of scansOf(bound, part, among))
        for await (const keys of iterators.blocks(scan.range.prefix)) {
          const found: Terms[] = [];
          const rest = eachMatch(scan, keys, () => found.push(termsOf(scan, places)));
          if (rest) await rest;
          if (found.length > 0) yield found;
        }
    },
    async lookUp(bounds, { part, places, isStar: isWanted }) {
      if (isComplete(bounds[0]!)) return complete(iterators, gates[part], bounds);
      const results: Terms[][] = bounds.map(() => []);
      const isStar = isWanted && bounds[0]![0] !== undefined;
      const wanted: [KeyPrefix, { scan: Scan; found: Terms[] }][] = [];
      if (isStar) await ofSubjects.load(bounds.map(([subject]) => subject!).filter(canBeSubject));
      for (const [index, bound] of bounds.entries()) {
        if (!canMatch(bound)) continue;
        const found = results[index]!;
        const keys = isStar ? ofSubjects.of(bound[0]!) : undefined;
        if (keys) {
          const scan = inSubject(bound, part);
          const own = keys.filter((key) => key.startsWith(scan.range.prefix));
          const rest = eachMatch(scan, own, () => found.push(termsOf(scan, places)));
          if (rest) await rest;
        } else for (const scan of scansOf(bound, part)) wanted.push([scan.range, { scan, found }]);
      }
      await readPrefixes(iterators, wanted, (keys, { scan, found }) =>
        eachMatch(scan, keys, () => found.push(termsOf(scan, places))),
      );
      return results;
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
    async *distinct(bound, place, part) {
      if (!canMatch(bound)) return;
      const range = keyPrefix(bound, false, place === graphAt ? 'GSPO' : bound[0] === undefined ? 'POGS' : 'SPOG');
      const scan = { ...scanOf(bound, part), unique: undefined, range, reader: readerOf(range.index) };
      let target: string | undefined;
      for await (const keys of iterators.leaps(range.prefix, () => target)) {
        const found = new Set<Token>();
        const rest = eachMatch(scan, keys, () => found.add(scan.reader.token(place)));
        if (rest) await rest;
        yield [...found];
        const [first, last] = [keys[0]!, keys.at(-1)!].map(
          (key) => scan.reader.read(key, '') && scan.reader.token(place),
        );
        // A whole block of one term that is found already: what else has it need not be read.
        target = first === last && found.has(last as Token) ? `${range.prefix}${last}\u0000\u0001` : undefined;
      }
    },
    estimate: (bound) => (canMatch(bound) ? estimate(iterators, keyPrefix(bound, false)) : Promise.resolve(0)),
    close: () => iterators.close(),
  };
}

/** Bounds that are looked up together have the same places bound. */
const canBeSubject = (token: Token): boolean => canMatch([token, undefined, undefined, undefined]);
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

async function estimate(iterators: KeyIterators, { index, prefix }: KeyPrefix): Promise<number> {
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
  return Math.max(counted, Math.round((await iterators.sizeOf(prefix)) / bytesPerKey));
}
