/** Initial states of an update: one graph in memory, and the graphs that a WHERE names without an index. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import type { Algebra } from '../../../lib/query/algebra.js';
import { NeedsIndexError } from '../../../lib/query/dataset.js';
import { graphState, type StateBefore, snapshotState } from '../../../lib/query/state-before.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
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
const dataset = { readable, defaultGraphs: [graph], namedGraphs: [] };

async function* block(of: readonly string[]): AsyncGenerator<readonly string[]> {
  yield of;
}

describe('query/state-before', () => {
  let store: SpecLevel;
  let snapshot: LevelSnapshot;
  let where: Algebra.Operation;
  let states: readonly StateBefore[];
  before(async () => {
    store = await specLevel();
    await store.fill(new Map([[graph, triples]]));
    snapshot = store.level.snapshot();
    where = (await queryWithAlgebra('SELECT * { ?s ?p ?o }')).algebra;
    const { level } = store;
    states = [
      graphState({ iri: graph, kind: 'rdf', keys }, () => {}),
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
    const [, state] = states;
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
    const ended = graphState({ iri: graph, kind: 'rdf', keys }, () => {
      throw new Error('ended');
    });
    const error: unknown = await ended.matches(dataset, where, new Map()).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'ended');
  });
});
