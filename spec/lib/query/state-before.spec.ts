/** Initial states of an update: one graph in memory, and the graphs that a WHERE names without an index. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import type { Algebra } from '../../../lib/query/algebra.js';
import { NeedsIndexError, subjectsOf } from '../../../lib/query/dataset.js';
import { type StateBefore, snapshotState, stateOfGraph } from '../../../lib/query/state-before.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { entryKey, recordKey } from '../../../lib/storage/keys/records.js';
import type { LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { graphNames, queryWithAlgebra, type SpecLevel, type SpecTriple, specLevel } from './engine-dataset.js';

const f = new DataFactory<Quad>();
const iri = (name: string) => f.namedNode(`http://e/${name}`);
const graph = graphNames[0]!;
/** More than one block. */
const triples: readonly SpecTriple[] = Array.from({ length: 5000 }, (_, at) => ({
  subject: iri(`s${at % 700}`),
  predicate: iri(`p${at % 3}`),
  object: at % 2 ? f.literal(`o\u00e9${at % 900}`) : iri(`o${at % 900}`),
}));
const keys = encodeGraph(graph, triples as never);
const readable = { all: true, known: () => true, resolve: async () => {} };
/** A graph stored in an entry, and one whose record says that it is large. */
const [inMemory, large] = [{ graph, entry: entryKey('spec', 'graph') }, { graph }];
const dataset = { readable, defaultGraphs: [graph], namedGraphs: [] };

async function* block(of: readonly string[]): AsyncGenerator<readonly string[]> {
  yield of;
}

describe('query/state-before', () => {
  let store: SpecLevel;
  let snapshot: LevelSnapshot;
  let where: Algebra.Operation;
  let states: readonly StateBefore[];
  const opened = () => ({ level: store.level, snapshot });
  before(async () => {
    store = await specLevel();
    await store.fill(new Map([[graph, triples]]));
    await store.level.put(inMemory.entry, JSON.stringify({ keys }));
    await store.level.put(recordKey(graph), JSON.stringify({ kind: 'rdf', revision: 'r', triples: 20_001 }));
    snapshot = store.level.snapshot();
    where = (await queryWithAlgebra('SELECT * { ?s ?p ?o }')).algebra;
    const { level } = store;
    states = [
      ...(await Promise.all([inMemory, large].map((target) => stateOfGraph(opened(), target, () => {})))).map(
        (state) => state!,
      ),
      snapshotState({ level, snapshot, memory: undefined }, () => {}),
    ];
  });
  after(async () => {
    await snapshot.close();
    await store.close();
  });

  it('has the keys of a graph', async () => {
    for (const state of states) {
      const found: string[] = [];
      for await (const some of state.keysOf(graph)) found.push(...some);
      expect(found.sort()).to.deep.equal([...keys].sort());
      expect([keys[0]!, keys[3]!, `${keys[3]}x`].map((key) => state.has(key))).to.deep.equal([true, true, false]);
    }
  });

  it('finds the triples of a graph, and those of its changed content', async () => {
    const bound = ['http://e/s1', 'http://e/p1', undefined, undefined];
    for (const state of states)
      for (const [changed, count] of [
        [new Map(), triples.filter((_, at) => at % 700 === 1 && at % 3 === 1).length],
        [new Map([[graph, block(encodeGraph(graph, triples.slice(0, 10) as never))]]), 1],
        [new Map([[graph, block([])]]), 0],
      ] as const) {
        const matches = await state.matches(dataset, where, changed);
        expect(await matches.count(bound, 'union')).to.equal(count);
        expect(await matches.lookUp([bound], { part: 'union', places: [0, 1, 2] })).to.have.nested.property(
          '[0].length',
          count,
        );
      }
  });

  it('needs the index for other graphs than the named ones', async () => {
    const state = states.at(-1);
    const error: unknown = await state!.matches({ readable }, where, new Map()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(NeedsIndexError);
    const named = await queryWithAlgebra(`SELECT * { GRAPH <${graph}> { ?s ?p ?o } }`);
    const matches = await state!.matches({ readable }, named.algebra, new Map());
    expect(await matches.count([undefined, undefined, undefined, graph], 'named')).to.equal(keys.length);
  });

  it('needs the index for graphs with long texts', async () => {
    const own = await specLevel();
    const long = Array.from({ length: 33 }, (_, at) => f.literal(`${at}${'x'.repeat(1 << 20)}`));
    await own.fill(new Map([[graph, long.map((object) => ({ subject: iri('s'), predicate: iri('p'), object }))]]));
    const taken = own.level.snapshot();
    const state = snapshotState({ level: own.level, snapshot: taken, memory: undefined }, () => {});
    const error: unknown = await state.matches(dataset, where, new Map()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(NeedsIndexError);
    await taken.close();
    await own.close();
  });

  it('checks regularly if the work must stop', async () => {
    for (const target of [inMemory, large]) {
      const ended = await stateOfGraph(opened(), target, () => {
        throw new Error('ended');
      });
      const error: unknown = await ended!.matches(dataset, where, new Map()).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message', 'ended');
    }
  });

  it('reads only the subjects that all patterns name', async () => {
    const some = await queryWithAlgebra(
      'SELECT * { <http://e/s1> <http://e/p1> ?o FILTER NOT EXISTS { <http://e/s2> ?p ?o } }',
    );
    const others = [
      '<http://e/s1> <http://e/p1> ?o . ?s ?p ?o',
      '<http://e/s1> <http://e/p1>+ ?o',
      '<http://e/s1> <http://e/p1> ?o MINUS { ?s ?p ?o }',
      '<http://e/s1> <http://e/p1> ?o . GRAPH ?g {}',
      'GRAPH ?g { VALUES (?g ?x) { (UNDEF 1) (<http://e/g> 2) } }',
      '<http://e/s1> <http://e/p1>/<http://e/p2> ?o',
    ];
    expect(subjectsOf(some.algebra)).to.have.members(['http://e/s1', 'http://e/s2']);
    for (const text of others)
      expect(subjectsOf((await queryWithAlgebra(`SELECT * { ${text} }`)).algebra), text).to.equal(undefined);
    const all = [undefined, undefined, undefined, undefined];
    const count = triples.filter((_, at) => [1, 2].includes(at % 700)).length;
    for (const state of states) {
      const matches = await state.matches(dataset, some.algebra, new Map());
      expect(await matches.count(all, 'union')).to.equal(count);
    }
  });

  it('rejects operations that read too much text of a large graph', async () => {
    const own = await specLevel();
    const text = 'x'.repeat(1 << 20);
    await own.fill(
      new Map([
        [
          graph,
          Array.from({ length: 200 }, (_, at) => ({
            subject: iri(`s${at}`),
            predicate: iri('p'),
            object: f.literal(`${at}${text}`),
          })),
        ],
      ]),
    );
    await own.level.put(recordKey(graph), JSON.stringify({ kind: 'rdf', revision: 'r', triples: 20_001 }));
    const taken = own.level.snapshot();
    const state = await stateOfGraph({ level: own.level, snapshot: taken }, { graph }, () => {});
    const error: unknown = await state!.matches(dataset, where, new Map()).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'too-complex');
    const some = (await queryWithAlgebra('SELECT * { <http://e/s7> ?p ?o }')).algebra;
    const matches = await state!.matches(dataset, some, new Map());
    expect(await matches.count([undefined, undefined, undefined, undefined], 'union')).to.equal(1);
    await taken.close();
    await own.close();
  });
});
