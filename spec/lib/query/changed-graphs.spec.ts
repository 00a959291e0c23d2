/** Reading of the graphs that have changed since the index was built. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { answered } from '../../../components/sparql/pool/answering.js';
import { timeout } from '../../../components/sparql/pool/query-errors.js';
import { acceptedFormats } from '../../../components/sparql/protocol/protocol.js';
import { changedTriples, withoutGraphs } from '../../../lib/query/memory/changed-triples.js';
import { indexOf, readQuads, readTriples } from '../../../lib/query/memory/index-data.js';
import { LayeredGraphs } from '../../../lib/query/memory/layered-graphs.js';
import { MemoryLayers, type MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { loadQueryEngine } from '../../../lib/query/query-engine.js';
import { allQuads, encodeGraph, graphRange, sortGraphs } from '../../../lib/storage/keys/quad-keys.js';
import { keyBlocks, type Level, openLevel } from '../../../lib/storage/level/durable-level.js';
import { OrderedRanges } from '../../../lib/storage/level/ordered-ranges.js';
import type { LwsError } from '../../../lib/tools/errors.js';

const factory = new DataFactory<Quad>();
const root = 'http://example.org/';
const graphOf = (at: number): string => `${root}${String(at).padStart(4, '0')}`;
const keysOf = (graph: string, state: number): readonly string[] =>
  encodeGraph(
    graph,
    ['a', 'b'].map((name) =>
      factory.quad(
        factory.namedNode(graph),
        factory.namedNode(root + name),
        factory.literal(String(state)) as Quad['object'],
      ),
    ),
  );

/** Number of iterators over keys that were opened. */
function countIterators(level: Level): () => number {
  let count = 0;
  const { keys } = level;
  level.keys = ((options: never) => {
    count++;
    return keys.call(level, options);
  }) as typeof level.keys;
  return () => count;
}

const countOf = ({ layers }: MemoryView): number =>
  layers.reduce((sum, { quads, masked }) => {
    const graphs = Array.from({ length: quads.count }, (_, at) => {
      const window = quads.window(0, at, at + 1);
      return window.column(3)[at - window.first]!;
    });
    return sum + graphs.filter((graph) => masked?.[graph] !== 1).length;
  }, 0);

describe('Changed graphs', () => {
  const folders: string[] = [];
  const levels: Level[] = [];
  async function opened(): Promise<Level> {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-changed-'));
    folders.push(folder);
    const level = await openLevel(folder);
    levels.push(level);
    return level;
  }
  async function filled(graphs: readonly string[], state = 0): Promise<Level> {
    const level = await opened();
    const keys = graphs.flatMap((graph) => keysOf(graph, state));
    await level.batch(keys.map((key) => ({ type: 'put', key, value: '\u0000' })));
    return level;
  }
  const removed = (level: Level, graphs: readonly string[], state = 0): Promise<void> =>
    level.batch(graphs.flatMap((graph) => keysOf(graph, state)).map((key) => ({ type: 'del', key })));
  async function layersOf(level: Level): Promise<MemoryLayers> {
    const layers = new MemoryLayers();
    const snapshot = level.snapshot();
    const data = indexOf((await readQuads(keyBlocks(level, allQuads, { snapshot }), { most: 1_000_000 }))!);
    await snapshot.close();
    layers.use({ version: 1, sequence: 0, data });
    return layers;
  }
  after(async () => {
    for (const level of levels) await level.close();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  const all = Array.from({ length: 600 }, (_, at) => graphOf(at));

  describe('OrderedRanges', () => {
    it('returns the keys of random ranges, as an iterator for each does', async () => {
      const names = ['a', 'b', 'é', '\u{1f600}', '\uffee', 'a/b', 'aa'].map((name) => root + name);
      await fc.assert(
        fc.asyncProperty(fc.subarray(names), fc.subarray(names), fc.subarray(names), async (some, gone, asked) => {
          const level = await filled(some);
          await removed(level, gone);
          const snapshot = level.snapshot();
          const sorted = sortGraphs(asked);
          const ranges = new OrderedRanges(level, snapshot, graphRange(sorted.at(-1) ?? root).lt);
          for (const graph of sorted) {
            const found: string[] = [];
            for await (const keys of ranges.blocksOf(graphRange(graph))) found.push(...keys);
            const isThere = some.includes(graph) && !gone.includes(graph);
            expect(found, graph).to.have.members(isThere ? [...keysOf(graph, 0)] : []);
          }
          await ranges.close();
          await snapshot.close();
        }),
        { numRuns: 20 },
      );
    });

    it('passes many deleted ranges with one iterator', async () => {
      const level = await filled(all);
      await removed(level, all.slice(0, -1));
      const snapshot = level.snapshot();
      const opened = countIterators(level);
      const ranges = new OrderedRanges(level, snapshot, graphRange(all.at(-1)!).lt);
      let count = 0;
      for (const graph of all) for await (const keys of ranges.blocksOf(graphRange(graph))) count += keys.length;
      await ranges.close();
      await snapshot.close();
      expect([count, opened()]).to.deep.equal([2, 1]);
    });
  });

  describe('LayeredGraphs', () => {
    const change = (graph: string, before: number, after: number): never =>
      ({ graphs: new Map([[graph, { triples: { before, after } }]]) }) as never;

    it('tells that a graph is empty only after its last change is on disk', () => {
      const graphs = new LayeredGraphs();
      graphs.begin();
      const last = (): unknown => graphs.since(0).graphs.map(([, , isEmpty]) => isEmpty);
      graphs.stage(change('g', 2, 0));
      expect(last()).to.deep.equal([false]);
      graphs.stage(change('g', 0, 0));
      graphs.settle(change('g', 2, 0));
      expect(last()).to.deep.equal([false]);
      graphs.settle(change('g', 0, 0));
      expect(last()).to.deep.equal([true]);
      graphs.stage(change('g', 0, 3));
      expect(last()).to.deep.equal([false]);
      graphs.drop(change('g', 0, 3));
      expect(last()).to.deep.equal([false]);
    });

    it('counts the quads after a change that is on disk', () => {
      const graphs = new LayeredGraphs();
      graphs.begin();
      graphs.stage(change('g', 20, 0));
      expect(graphs.quads).to.equal(20);
      graphs.settle(change('g', 20, 0));
      expect(graphs.quads).to.equal(0);
    });
  });

  it('are not read if their change left no quads', async () => {
    const level = await filled(all);
    const layers = await layersOf(level);
    const gone = all.slice(0, 500);
    await removed(level, gone);
    layers.record({ graphs: gone.map((graph, at) => [graph, at + 1, true]), unsettled: [] });
    const snapshot = level.snapshot();
    const opened = countIterators(level);
    const view = await layers.view({ version: 1, sequence: 500 }, [], { level, snapshot });
    expect([countOf(view!), opened(), layers.pending]).to.deep.equal([200, 0, 0]);
    await snapshot.close();
  });

  it('are read if the change may not be in the snapshot', async () => {
    const level = await filled(all);
    const layers = await layersOf(level);
    const before = level.snapshot();
    await removed(level, all.slice(0, 2));
    // The second change has a number after that of the query, and the third is not settled.
    layers.record({ graphs: [0, 1, 2].map((at) => [all[at]!, at + 1, true]), unsettled: [all[2]!] });
    const asked = { version: 1, sequence: 0 };
    expect(countOf((await layers.view(asked, [all[2]!], { level, snapshot: before }))!)).to.equal(1200);
    await before.close();
    const after = level.snapshot();
    const view = await layers.view({ version: 1, sequence: 3 }, [], { level, snapshot: after });
    // The last change left no quads, as far as the message says.
    expect(countOf(view!)).to.equal(1194);
    await after.close();
  });

  it('are empty after a deletion and have quads again after a later change', async () => {
    const level = await filled(all);
    const layers = await layersOf(level);
    await removed(level, [all[0]!]);
    layers.record({ graphs: [[all[0]!, 1, true]], unsettled: [] });
    const counts: number[] = [];
    for (const sequence of [1, 2]) {
      const snapshot = level.snapshot();
      counts.push(countOf((await layers.view({ version: 1, sequence }, [], { level, snapshot }))!));
      await snapshot.close();
      await level.batch(keysOf(all[0]!, 7).map((key) => ({ type: 'put', key, value: '\u0000' })));
      layers.record({ graphs: [[all[0]!, 2, false]], unsettled: [] });
    }
    expect(counts).to.deep.equal([1198, 1200]);
  });

  it('are read by the next query where an ended one stopped', async () => {
    const level = await filled(all);
    const layers = await layersOf(level);
    await level.batch(all.flatMap((graph) => keysOf(graph, 1)).map((key) => ({ type: 'put', key, value: '\u0000' })));
    layers.record({ graphs: all.map((graph, at) => [graph, at + 1, false]), unsettled: [] });
    const snapshot = level.snapshot();
    const asked = { version: 1, sequence: all.length };
    let left = 300;
    const check = (): void => {
      if (--left < 0) throw new Error('ended');
    };
    const ended = await layers.view(asked, [], { level, snapshot, check }).catch((error: Error) => error.message);
    expect(ended).to.equal('ended');
    expect(layers.pending).to.be.within(1, all.length - 1);
    const view = await layers.view(asked, [], { level, snapshot });
    expect([countOf(view!), layers.pending]).to.deep.equal([2400, 0]);
    await snapshot.close();
  });

  it('have the triples after a change in numbers of a view, as their keys do (rule 27.8)', async () => {
    const level = await filled(all.slice(0, 40));
    const layers = await layersOf(level);
    const [replaced, deleted, absent] = [all.slice(0, 10), all.slice(10, 20), all.slice(40, 45)];
    await removed(level, [...replaced, ...deleted]);
    await level.batch(
      replaced.flatMap((graph) => keysOf(graph, 1)).map((key) => ({ type: 'put', key, value: '\u0000' })),
    );
    const graphs = [...replaced, ...deleted].map((graph) => [graph, 1, deleted.includes(graph)] as const);
    layers.record({ graphs, unsettled: [] });
    const snapshot = level.snapshot();
    const view = (await layers.view({ version: 1, sequence: 1 }, [], { level, snapshot }))!;
    const rows = (triples: Uint32Array): string[] =>
      Array.from({ length: triples.length / 3 }, (_, at) => triples.subarray(3 * at, 3 * at + 3).join()).sort();
    for (const graph of [...replaced, ...deleted, ...all.slice(20, 40), ...absent])
      for (const [added, gone] of [[], [0], [1], [7], [0, 1], [7, 8]].flatMap((few) => [
        [few, [0, 1, 9]],
        [few, []],
      ])) {
        const change = {
          added: added!.flatMap((at) => keysOf(graph, at)),
          removed: gone!.map((at) => keysOf(graph, at)[0]!),
        };
        const after = new Set<string>();
        for await (const keys of keyBlocks(level, graphRange(graph), { snapshot }))
          for (const key of keys) after.add(key);
        for (const key of change.removed) if (!change.added.includes(key)) after.delete(key);
        for (const key of change.added) after.add(key);
        const expected = rows(await readTriples([[...after]], view.terms));
        expect(rows(await changedTriples(view, graph, change)), graph).to.deep.equal(expected);
      }
    // 30 graphs with two triples each: two are left out by name, one of each layer, and eleven by a condition.
    const rest = withoutGraphs(view, { names: [all[0]!, all[20]!, all[44]!], isOther: (graph) => graph >= all[29]! });
    expect([countOf(view), countOf(rest)]).to.deep.equal([60, 34]);
    for (const [graph, count] of [
      [all[0]!, 0],
      [all[1]!, 6],
      [all[20]!, 0],
      [all[29]!, 0],
    ] as const)
      expect((await changedTriples(rest, graph, { added: [], removed: [] })).length, graph).to.equal(count);
    await snapshot.close();
  });

  describe('a query that reaches its time limit while they are read', () => {
    const query = async (text: string, changed: number): Promise<LwsError | string> => {
      const level = await filled(all, 3);
      const layers = await layersOf(level);
      const graphs = all.slice(0, changed).map((graph, at) => [graph, at + 1, false] as const);
      const limit = { timeoutMs: 1000, by: 'lws.sparql.endpoint.timeout-seconds' };
      const names = text.includes('GRAPH');
      const host = {
        ...{ level, layers, storage: root, loadEngine: loadQueryEngine },
        limits: () => () => {
          if (!names) throw timeout(limit);
        },
      };
      const caller = {
        moves: [],
        send: async () => {},
        ask: async () => ({ scope: 'everything', changes: { graphs, unsettled: [] } }),
      };
      const task = {
        query: text,
        base: root,
        formats: acceptedFormats('text/csv'),
        ...{ maxBytes: 1 << 20, maxResults: 1000, allowedServices: [] },
      };
      const asked = { version: 1, sequence: all.length };
      return answered(host, { task, limit, asked, presumed: undefined }, caller as never).then(
        ({ chunk }) => Buffer.from(chunk).toString(),
        (error: LwsError) => error,
      );
    };

    it('is 503, because its text is not the cause (rule 14.7)', async () => {
      const error = (await query('SELECT * { ?s ?p ?o }', 10)) as LwsError;
      expect(error.code).to.equal('too-busy');
    });

    it('does not wait for them if it names its graphs', async () => {
      const text = await query(`SELECT ?o { GRAPH <${all[599]}> { ?s <${root}a> ?o } }`, 500);
      expect(text).to.equal('o\r\n3\r\n');
    });
  });
});
