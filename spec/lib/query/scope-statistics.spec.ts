/** Estimates that are shared by callers that may read the same graphs. */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { ScopeStatistics } from '../../../lib/query/access/estimates.js';
import { type ReadableGraphs, readableGraphs } from '../../../lib/query/access/readable-graphs.js';
import { answersOf } from '../../../lib/query/answers.js';
import { indexOf, readQuads } from '../../../lib/query/memory/index-data.js';
import { MemoryLayers, type MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { MemoryMatches } from '../../../lib/query/memory/memory-matches.js';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { only, subtree } from '../../../lib/storage/keys/iri-ranges.js';
import { allQuads } from '../../../lib/storage/keys/quad-keys.js';
import { keyBlocks } from '../../../lib/storage/level/durable-level.js';
import { base, type SpecLevel, type SpecTriple, specLevel } from './engine-dataset.js';
import { inMemory } from './engine-memory.js';

const factory = new DataFactory<Quad>();
const iri = (name: string): Term => factory.namedNode(base + name);
const triples = (subject: string, count: number): SpecTriple[] =>
  Array.from({ length: count }, (_, i) => ({
    subject: iri(`${subject}${i}`),
    predicate: iri(`p${i % 3}`),
    object: iri(`o${i % 7}`),
  }));
const open: [string, SpecTriple[]][] = [0, 1, 2].map((at) => [`${base}open/${at}`, triples(`s${at}-`, 60)]);
const secret: [string, SpecTriple[]][] = [[`${base}secret`, triples('hs', 3000)]];
const join = 'SELECT * { ?s <p0> ?o . ?t <p1> ?o . ?s <p2> ?x . ?t <hp> ?y }';

interface Asked {
  readonly container: string;
  readonly isExact: boolean;
  readonly text: string;
  readonly view: MemoryView;
}
interface Result {
  readonly readable: ReadableGraphs;
  readonly view: MemoryView;
}

describe('Statistics of a scope', () => {
  let store: SpecLevel;
  let withoutSecret: SpecLevel;
  before(async () => {
    store = await specLevel();
    await store.fill(new Map([...open, ...secret]));
    withoutSecret = await specLevel();
    await withoutSecret.fill(new Map(open));
  });
  after(async () => {
    await store.close();
    await withoutSecret.close();
  });

  /** Runs a query for a caller, and returns what it may read and the view. */
  async function asked(
    { level }: SpecLevel,
    { container = 'open/', isExact = true, text = join, view }: Partial<Asked> = {},
  ): Promise<Result> {
    const snapshot = level.snapshot();
    const scope = isExact ? { ranges: [subtree(`${base}${container}`)] } : 'decide';
    const decide = async (iris: readonly string[]): Promise<boolean[]> => iris.map(() => true);
    const within = isExact ? undefined : `${base}open/`;
    const readable = readableGraphs({ level, snapshot, scope, within, decide });
    const memory = view ?? (await inMemory(level, snapshot, []));
    const query = await parseQuery(text, base);
    const answers = answersOf(query, { level, snapshot, readable, memory, ...query.from });
    for await (const _ of answers.rows());
    await answers.close();
    await snapshot.close();
    return { readable, view: memory };
  }
  const countsOf = ({ readable, view }: Result): [string, unknown][] =>
    [...view.scopes!.of(readable.ranges!()!).counts].sort(([a], [b]) => (a < b ? -1 : 1));

  it('are kept for callers with the same ranges, and not for others', async () => {
    const first = await asked(store);
    const counts = countsOf(first);
    expect(counts.length).to.equal(4);
    const { id } = first.view.scopes!.of(first.readable.ranges!()!);
    const second = await asked(store, { view: first.view });
    expect(second.readable).not.to.equal(first.readable);
    expect(second.view.scopes!.of(second.readable.ranges!()!).id).to.equal(id);
    // Estimates are neither made again nor replaced.
    expect(countsOf(second).every(([, count], at) => count === counts[at]![1])).to.equal(true);
    const other = await asked(store, { container: '', view: first.view });
    expect(other.view.scopes!.of(other.readable.ranges!()!).id).not.to.equal(id);
    expect(countsOf(first)).to.deep.equal(counts);
  });

  it('do not depend on quads outside of the ranges', async () => {
    expect(countsOf(await asked(store))).to.deep.equal(countsOf(await asked(withoutSecret)));
  });

  it('are of samples that do not depend on quads outside of the ranges, so that filters cannot count these', async () => {
    const { sample } = MemoryMatches.prototype;
    const text = `SELECT ?u (COUNT(*) AS ?n) { ?s <author> ?u . ?s <rating> ?r . FILTER(STR(?r) < "0600") } GROUP BY ?u`;
    const rated = (subject: string, from: number, count: number): SpecTriple[] =>
      Array.from({ length: count }, (_, i) => ({
        subject: iri(subject + i),
        predicate: iri('rating'),
        object: factory.literal(String(from + i).padStart(4, '0')),
      }));
    const authors = Array.from({ length: 3000 }, (_, i) => ({
      subject: iri(`s${i}`),
      predicate: iri('author'),
      object: iri(`u${i % 9}`),
    }));
    const found: unknown[] = [];
    for (const hidden of [0, 3, 40]) {
      const own = await specLevel();
      const graphs = new Map<string, SpecTriple[]>([[`${base}open/1`, [...rated('s', 0, 6000), ...authors]]]);
      if (hidden > 0) graphs.set(`${base}secret`, rated('h', 9000, hidden));
      await own.fill(graphs);
      const samples: unknown[] = [];
      Object.assign(MemoryMatches.prototype, {
        async sample(this: MemoryMatches, ...of: Parameters<typeof sample>) {
          const terms = await sample.apply(this, of);
          samples.push(terms);
          return terms;
        },
      });
      try {
        await asked(own, { text });
      } finally {
        Object.assign(MemoryMatches.prototype, { sample });
        await own.close();
      }
      expect(samples.flat().length, 'samples').to.be.above(8);
      found.push(samples);
    }
    expect(found[1]).to.deep.equal(found[0]);
    expect(found[2]).to.deep.equal(found[0]);
  });

  it('are not kept if graphs are decided one by one, or the query chooses its dataset', async () => {
    const { view } = await asked(store, { isExact: false });
    const chosen = join.replace('{', `FROM <${base}open/1> {`);
    const { readable } = await asked(store, { text: chosen, view });
    expect(view.scopes!.of(readable.ranges!()!).counts.size).to.equal(0);
  });

  it('are dropped by changes within the ranges, but by no others', () => {
    const [ranges, others] = [[subtree(`${base}open/`)], [only(`${base}x`)]];
    const scopes = new ScopeStatistics();
    const [own, other] = [scopes.of(ranges), scopes.of(others)];
    scopes.drop(`${base}secret`);
    expect(scopes.of(ranges)).to.equal(own);
    scopes.drop(`${base}open/1`);
    expect(scopes.of(ranges)).not.to.equal(own);
    expect(scopes.of(others)).to.equal(other);
  });

  it('survive a change of a hidden graph in the layers of a thread', async () => {
    const { level } = store;
    const older = level.snapshot();
    const layers = new MemoryLayers();
    const data = indexOf((await readQuads(keyBlocks(level, allQuads, { snapshot: older }), { most: 1_000_000 }))!);
    layers.use({ version: 1, sequence: 0, data });
    const ranges = [subtree(`${base}open/`)];
    const changed = async (graph: string, sequence: number): Promise<object> => {
      layers.record({ graphs: [[graph, sequence]], unsettled: [] });
      const view = await layers.view({ version: 1, sequence }, [], { level, snapshot: older });
      return view!.scopes!.of(ranges);
    };
    const first = await changed(`${base}secret`, 1);
    expect(await changed(`${base}secret`, 2)).to.equal(first);
    expect(await changed(`${base}open/2`, 3)).not.to.equal(first);
    await older.close();
  });

  it('are those of the scopes that were used last', () => {
    const scopes = new ScopeStatistics();
    const ranges = Array.from({ length: 9 }, (_, at) => [only(`${base}${at}`)]);
    const first = scopes.of(ranges[0]!);
    const second = scopes.of(ranges[1]!);
    for (const each of ranges.slice(2)) {
      scopes.of(each);
      scopes.of(ranges[0]!);
    }
    expect(scopes.of(ranges[0]!)).to.equal(first);
    expect(scopes.of(ranges[1]!)).not.to.equal(second);
  });
});
