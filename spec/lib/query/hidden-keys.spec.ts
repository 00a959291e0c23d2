/**
 * Unreadable graphs that a query without an index names cost the same as nonexistent ones. Counts the keys read, because times on
 * a shared machine are not reliable.
 */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { type GraphScope, readableGraphs } from '../../../lib/query/access/readable-graphs.js';
import { answersOf } from '../../../lib/query/answers.js';
import { NeedsIndexError, quadsWithoutIndex } from '../../../lib/query/dataset.js';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { withConstants } from '../../../lib/query/parse/query-shape.js';
import { only, subtree } from '../../../lib/storage/keys/iri-ranges.js';
import type { Level } from '../../../lib/storage/level/durable-level.js';
import { base, type SpecLevel, type SpecTriple, specLevel } from './engine-dataset.js';

const factory = new DataFactory<Quad>();
const iri = (name: string): Term => factory.namedNode(base + name);
const triple = (subject: string, predicate: string, object: string | number): SpecTriple => ({
  subject: iri(subject),
  predicate: iri(predicate),
  object: typeof object === 'string' ? iri(object) : factory.literal(String(object)),
});

const hidden = 5000;
/** Readable graphs, and hidden ones before, between and after them. */
const open = Array.from({ length: 6 }, (_, at): [string, SpecTriple[]] => [
  `${base}open/${at}`,
  Array.from({ length: 10 }, (_, i) => triple(`s${at}-${i}`, 'p', i % 2 === 0 ? 'o' : i)),
]);
const numbers = Array.from({ length: hidden }, (_, i) => i);
const secret: [string, SpecTriple[]][] = [
  [`${base}a-subject`, numbers.map((i) => triple('hs', `hp${i % 7}`, i))],
  [`${base}open/2/hidden`, numbers.map((i) => triple(`hs${i}`, 'hp', i))],
  [`${base}z-object`, numbers.map((i) => triple(`hs${i}`, `hp${i % 5}`, 'ho'))],
];

/** Counts the keys that are read through it. */
class Counted {
  keys = 0;
  readonly level: Level;

  constructor(level: Level) {
    const counted = (options: object): unknown => {
      const iterator = level.keys(options as never);
      return {
        close: () => iterator.close(),
        nextv: async (size: number) => {
          const keys = await iterator.nextv(size);
          this.keys += keys.length;
          return keys;
        },
      };
    };
    this.level = new Proxy(level, {
      get: (target, name) => {
        if (name === 'keys') return counted;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

interface Reader {
  readonly scope: GraphScope;
  readonly within?: string;
  /** Resources of the owner of the scope. */
  readonly owned?: readonly string[];
}
const isOpen = (graph: string): boolean => graph.startsWith(`${base}open/`) && !graph.includes('hidden');
const readers: Readonly<Record<string, Reader>> = {
  // The container except one part, as in Web Access Control.
  'with readable graphs in ranges': {
    scope: {
      ranges: [{ from: `${base}open/`, to: `${base}open/2/` }, ...[3, 4, 5].map((at) => only(`${base}open/${at}`))],
    },
  },
  'with separate decisions in a container': { scope: 'decide', within: `${base}open/` },
  'with separate decisions': { scope: 'decide' },
  'without resources of its own': { scope: { owner: 'https://id.example/nobody', ranges: [] }, owned: [] },
  'without readable resources': { scope: 'nothing' },
  'with a resource of its own': { scope: { owner: 'https://id.example/one', ranges: [] }, owned: [`${base}open/4`] },
};

/** Queries with a name that only hidden data has, and one that no data has. */
const ofGraphs = (name: string): string[] => [
  `ASK { GRAPH <${name}> { ?s ?p ?o } }`,
  `ASK { GRAPH <${name}> { ?s <hp> ?o } }`,
  `ASK { GRAPH <${name}> { <hs> <hp0> "0" } }`,
  `SELECT (COUNT(*) AS ?n) { GRAPH <${name}> { ?s ?p ?o } }`,
  `SELECT DISTINCT ?p { GRAPH <${name}> { ?s ?p ?o } }`,
  `ASK FROM <${name}> { ?s ?p ?o }`,
  `ASK FROM <${name}> FROM <open/1> { ?s <hp> ?o }`,
  `SELECT * FROM NAMED <${name}> FROM NAMED <open/1> { GRAPH ?g { ?s ?p ?o } }`,
  `SELECT DISTINCT ?g FROM NAMED <${name}> FROM NAMED <open/1> { GRAPH ?g { ?s ?p ?o } }`,
  `SELECT * { GRAPH <open/1> { ?s <p> ?o } GRAPH <${name}> { ?s ?q ?x } }`,
  `ASK { GRAPH <${name}> { ?s <hp>+ ?o } }`,
];
/** Queries that name no graph. */
const ofAll = [
  'SELECT ?s ?p ?o { ?s ?p ?o } ORDER BY ?s ?p ?o',
  'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
  'SELECT DISTINCT ?p { ?s ?p ?o }',
  'SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }',
  'ASK { ?s <hp> ?o }',
  'ASK { <hs> ?p ?o }',
  'SELECT ?s { ?s <p> <o> OPTIONAL { ?s <hp1> ?x } FILTER NOT EXISTS { ?s <hp> ?y } } ORDER BY ?s',
  'SELECT ?x { <s1-0> (<p>|<hp>)+ ?x }',
  'DESCRIBE <s1-0>',
];
/** Readers for whom no graph has to be decided, with the number of triples that they can read. */
const decided: readonly (readonly [reader: string, triples: number])[] = [
  ['with readable graphs in ranges', 60],
  ['without resources of its own', 0],
  ['without readable resources', 0],
  ['with a resource of its own', 10],
];

describe('Keys read for hidden data', function () {
  this.timeout(60_000);
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

  /** Rows, and the number of keys read for them. */
  async function asked(
    text: string,
    { scope, within, owned }: Reader,
    from = store,
  ): Promise<[rows: string, keys: number]> {
    const counted = new Counted(from.level);
    const { level } = counted;
    const snapshot = level.snapshot();
    const decide = async (iris: readonly string[]): Promise<boolean[]> => iris.map(isOpen);
    const readable = readableGraphs({ level, snapshot, scope, within, owned, decide });
    const query = await parseQuery(text, base);
    const dataset = { level, snapshot, readable, ...query.from };
    const memory = await quadsWithoutIndex(dataset, withConstants(query.shape, query.constants), () => {});
    const answers = answersOf(query, { ...dataset, memory });
    const found: unknown[] = [];
    try {
      if (query.form === 'ask') found.push(await answers.truth());
      else for await (const block of query.form === 'select' ? answers.rows() : answers.quads()) found.push(...block);
    } finally {
      await answers.close();
      await snapshot.close();
    }
    return [JSON.stringify(found), counted.keys];
  }

  for (const [name, reader] of Object.entries(readers))
    describe(`of one ${name}`, () => {
      it('are those of a nonexistent graph if the query names a graph', async () => {
        for (const [hidden, absent] of [
          ['a-subject', 'a-subjecu'],
          ['open/2/hidden', 'open/2/hiddeo'],
        ] as const)
          for (const [at, text] of ofGraphs(hidden).entries())
            expect(await asked(text, reader), text).to.deep.equal(await asked(ofGraphs(absent)[at]!, reader));
      });
    });

  for (const [name, triples] of decided)
    it(`are those of a store without hidden data if the query of one ${name} names no graph`, async () => {
      const reader = readers[name]!;
      for (const text of ofAll) {
        const found = await asked(text, reader);
        expect(found, text).to.deep.equal(await asked(text, reader, withoutSecret));
        expect(found[1], text).to.equal(triples);
        if (text.includes('COUNT')) expect(found[0]).to.include(`"value":"${triples}"`);
      }
    });

  it('need the index for readers for whom each graph has to be decided', async () => {
    const all = { ranges: [subtree(base)] };
    for (const reader of [readers['with separate decisions']!, readers['with separate decisions in a container']!])
      for (const from of [store, withoutSecret])
        expect(await asked(ofAll[0]!, reader, from).catch((error: unknown) => error)).to.be.instanceOf(NeedsIndexError);
    expect((await asked('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }', { scope: all }))[0]).to.include('"value":"15060"');
  });
});
