/** In-memory index during concurrent writes: every result reflects one state of the store, with all acknowledged writes. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { QueryPool } from '../../../components/sparql/pool/query-pool.js';
import { acceptedFormats } from '../../../components/sparql/protocol/protocol.js';
import type { GraphScope } from '../../../lib/query/access/readable-graphs.js';
import { processBudget } from '../../../lib/query/memory/index-budget.js';
import { MemoryIndex, type MemoryIndexOptions } from '../../../lib/query/memory/memory-index.js';
import { openStore } from '../../../lib/server/storage/open-store.js';
import { only } from '../../../lib/storage/keys/iri-ranges.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { newRevision, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { completeIndex, indexStateKey } from '../../../lib/storage/level/owned-entries.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { until } from '../../support/until.js';

const factory = new DataFactory<Quad>();
const root = 'http://example.org/';
const value = `${root}value`;
const copies = 5;

const recordOf: Omit<ResourceRecord, 'iri'> = {
  ...{ kind: 'rdf', revision: '1', mediaType: 'text/turtle', size: 0, created: 0, modified: 0 },
};

/** Store with an index and query threads. */
class Queried {
  readonly said: string[] = [];
  /** Number of queries with the index, and without it. */
  readonly used = { memory: 0, none: 0 };
  private readonly graphs = new Map<string, readonly string[]>();

  private constructor(
    private readonly folder: string,
    readonly store: Store,
    readonly index: MemoryIndex,
    private readonly pool: QueryPool,
  ) {}

  static async open(bounds: Partial<MemoryIndexOptions>): Promise<Queried> {
    const dataDir = mkdtempSync(join(tmpdir(), 'quadpod-memory-'));
    const store = await openStore(dataDir, root, {});
    const folder = join(dataDir, 'level');
    const said: string[] = [];
    const say = (facts: unknown, text?: string): void => {
      said.push(`${text ?? facts} ${JSON.stringify(facts)}`);
    };
    const index = new MemoryIndex({
      ...{ folder, store, log: { info: say, warn: say } as never },
      ...{ memory: 1 << 30, fewGraphs: 60, pauseMs: 50, pauseTimes: 0.5, retryMs: 100, ...bounds },
    });
    const options = {
      folder,
      storage: root,
      size: 2,
      timeoutMs: 30_000,
      strangers: 1,
      strangerTimeoutMs: 30_000,
      memoryMb: 256,
      queue: 100,
    };
    const queried = new Queried(dataDir, store, index, new QueryPool({ ...options, memory: index }));
    const { changes } = index;
    index.changes = (worker, asked) => {
      const found = changes.call(index, worker, asked);
      queried.used[found ? 'memory' : 'none']++;
      return found;
    };
    (queried as { said: string[] }).said = said;
    return queried;
  }

  /** Writes several graphs at once, each with the same few values. */
  async write(states: ReadonlyMap<string, number | undefined>): Promise<void> {
    await this.store.transact((tx) => {
      for (const [name, state] of states) {
        const graph = root + name;
        const before = this.graphs.get(graph) ?? [];
        const quads = Array.from({ length: state === undefined ? 0 : copies }, (_, at) =>
          factory.quad(
            factory.namedNode(`${graph}#${at}`),
            factory.namedNode(value),
            factory.literal(String(state)) as never,
          ),
        );
        const keys = encodeGraph(graph, quads);
        const record = { ...recordOf, iri: graph, revision: newRevision(), triples: keys.length };
        if (state === undefined) {
          tx.deleteGraph(graph, before);
          tx.deleteRecord(record);
        } else {
          tx.putGraph(graph, before, keys);
          tx.putRecord(record);
        }
        this.graphs.set(graph, keys);
        tx.changed({ after: { ...recordOf, iri: graph } });
      }
      tx.putEntry('E\u0000spec', '');
    });
  }

  /** Values in each graph. */
  async read(): Promise<Map<string, number[]>> {
    const text = await this.ask(`SELECT ?g ?v { GRAPH ?g { ?s <${value}> ?v } }`);
    const found = new Map<string, number[]>();
    for (const line of text.trim().split('\r\n').slice(1)) {
      const [graph, state] = line.split(',') as [string, string];
      const name = graph.slice(root.length);
      found.set(name, [...(found.get(name) ?? []), Number(state)]);
    }
    return found;
  }

  async ask(query: string, scope: GraphScope = 'everything'): Promise<string> {
    const { body } = await this.pool.run({
      task: {
        query,
        base: root,
        formats: acceptedFormats('text/csv'),
        maxBytes: 1 << 20,
        maxResults: 1_000_000,
        allowedServices: [],
      },
      client: String(Math.random()),
      callerClass: 'known',
      scope: async () => scope,
      gone: () => new AbortController().signal,
      decide: async (iris) => iris.map(() => true),
      callService: () => Promise.reject(new Error('The authorizer must not be asked.')),
    });
    if (Buffer.isBuffer(body)) return body.toString();
    let text = '';
    for await (const chunk of body) text += Buffer.from(chunk as Uint8Array).toString();
    return text;
  }

  async until(holds: () => boolean): Promise<void> {
    await until(holds).catch(() => {});
    expect(holds(), this.said.join('\n')).to.equal(true);
  }

  /** Long enough for unnecessary work to show. */
  rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 300));
  }

  get builds(): number {
    return this.said.filter((line) => line.includes('ready')).length;
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.index.close()]);
    await this.store.close();
    rmSync(this.folder, { recursive: true });
  }
}

describe('In-memory index', function () {
  this.timeout(60_000);
  let queried: Queried;
  afterEach(() => queried.close());

  /** Writers that increment values in their own graphs, and readers that check the visible values, for some time. */
  async function contend(
    ms: number,
    check: (seen: Map<string, number[]>) => void = () => {},
    isEnough = () => true,
  ): Promise<void> {
    const end = Date.now() + ms;
    const goesOn = (): boolean => Date.now() < end || !isEnough();
    const acknowledged = new Map<string, number>();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let state = 1; goesOn(); state++) {
        // Two graphs of a transaction change together. The writer's old graphs stay unchanged.
        const names = [`w${writer}/a`, `w${writer}/b`, `w${writer}/${state % 40}/old`];
        await queried.write(new Map(names.map((name) => [name, state])));
        for (const name of names) acknowledged.set(name, state);
        if (state % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    const readers = Array.from({ length: 3 }, async () => {
      while (goesOn()) {
        const before = new Map(acknowledged);
        const seen = await queried.read();
        for (const [name, state] of before) {
          const values = seen.get(name)!;
          expect(values, name).to.have.length(copies);
          expect(new Set(values), name).to.have.property('size', 1);
          expect(values[0], name).to.be.at.least(state);
        }
        for (let writer = 0; writer < 4; writer++)
          expect(seen.get(`w${writer}/a`)?.[0], 'a transaction').to.equal(seen.get(`w${writer}/b`)?.[0]);
        check(seen);
      }
    });
    await Promise.all([...writers, ...readers]);
    const last = await queried.read();
    expect(new Map([...last].map(([name, values]) => [name, values[0]!]))).to.deep.equal(acknowledged);
  }

  for (const [where, bounds] of [
    ['memory', {}],
    ['files in memory', { filesFrom: 10 }],
    ['files', { filesFrom: 10, memory: 1 }],
  ] as const)
    it(`returns one state of the store in every result, across rebuilds (${where})`, async () => {
      queried = await Queried.open(bounds);
      queried.index.start();
      // A slow machine may need the full timeout of the spec.
      await contend(
        1500,
        () => {},
        () => queried.builds > 2 && queried.used.memory > 5,
      );
      expect(queried.used.memory).to.be.above(5);
    });

  it('returns one state of the store in every result, with all changes in layers', async () => {
    queried = await Queried.open({ fewGraphs: 1_000_000 });
    await queried.write(new Map(Array.from({ length: 400 }, (_, at) => [`old/${at}`, at])));
    queried.index.start();
    await queried.until(() => queried.builds === 1);
    await queried.write(new Map(Array.from({ length: 300 }, (_, at) => [`old/${at}`, undefined])));
    const old = (seen: ReadonlyMap<string, unknown>) => [...seen.keys()].filter((name) => name.startsWith('old/'));
    expect(old(await queried.read())).to.have.length(100);
    await queried.write(new Map(Array.from({ length: 100 }, (_, at) => [`old/${at + 300}`, undefined])));
    await contend(1500, (seen) => expect(old(seen)).to.deep.equal([]));
    expect(queried.builds).to.equal(1);
    expect(queried.used.none).to.equal(0);
  });

  it('makes the first query wait', async () => {
    queried = await Queried.open({ idleMs: 2_000 });
    await queried.write(new Map([['a', 1]]));
    expect([...(await queried.read()).keys()]).to.deep.equal(['a']);
    expect(queried.used).to.deep.equal({ memory: 1, none: 0 });
    // After it was dropped, the next query waits for it again.
    await queried.until(() => queried.index.asked === undefined);
    await queried.write(new Map([['b', 1]]));
    expect([...(await queried.read()).keys()]).to.have.members(['a', 'b']);
    expect(queried.used).to.deep.equal({ memory: 2, none: 0 });
  });

  it('does not delay a query that names its graphs', async () => {
    queried = await Queried.open({});
    await queried.write(
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    );
    await queried.index.pause();
    const query = `SELECT ?v { GRAPH <${root}a> { ?s ?p ?v FILTER EXISTS { GRAPH <${root}b> { ?other ?p ?w } } } }`;
    expect((await queried.ask(query)).trim().split('\r\n').slice(1)).to.deep.equal(Array(copies).fill('1'));
    expect((await queried.ask(`SELECT ?v FROM <${root}b> { ?s ?p ?v }`)).trim().split('\r\n')).to.have.length(
      copies + 1,
    );
    expect((await queried.ask('SELECT (1 AS ?v) {}')).trim()).to.equal('v\r\n1');
    expect(queried.used).to.deep.equal({ memory: 0, none: 0 });
  });

  it('does not exist before the first query', async () => {
    queried = await Queried.open({});
    await queried.write(new Map([['a', 1]]));
    await queried.rest();
    expect(queried.index.isAtWork).to.equal(false);
    expect(queried.index.asked).to.equal(undefined);
    expect([...(await queried.read()).keys()]).to.deep.equal(['a']);
    expect([queried.builds, queried.used.memory]).to.deep.equal([1, 1]);
  });

  it('is not rebuilt for changes without queries', async () => {
    queried = await Queried.open({ fewGraphs: 3 });
    await queried.write(new Map([['a', 1]]));
    await queried.read();
    const change = async (name: string): Promise<void> => {
      for (let state = 0; state < 60; state++) await queried.write(new Map([[`${name}${state}`, state]]));
      await queried.rest();
    };
    // The query arrived after its build began, so that one more follows.
    await change('b');
    await queried.until(() => !queried.index.isAtWork);
    const { builds } = queried;
    await change('c');
    expect(queried.builds).to.equal(builds);
    expect((await queried.read()).size).to.equal(121);
    await queried.until(() => queried.builds > builds);
    expect((await queried.read()).size).to.equal(121);
  });

  it('renews its files after many changes without queries, so that the change log covers the rest', async () => {
    queried = await Queried.open({ filesFrom: 1, renewFrom: 100 });
    await queried.write(new Map([['a', 1]]));
    await queried.read();
    await queried.until(() => !queried.index.isAtWork);
    queried.index.leave();
    const { builds } = queried;
    for (let state = 0; state < 99; state++) await queried.write(new Map([[`b${state}`, state]]));
    await queried.rest();
    expect([queried.builds, queried.index.isAtWork]).to.deep.equal([builds, false]);
    await queried.write(new Map([['c', 1]]));
    await queried.until(() => queried.said.some((line) => line.startsWith('The files of the index are renewed.')));
    expect([queried.builds, queried.index.asked]).to.deep.equal([builds, undefined]);
    expect((await queried.read()).size).to.equal(101);
    expect(queried.builds).to.equal(builds + 1);
    expect(queried.said.at(-1)).to.match(/"from":"files"/);
  });

  it('makes a query retry later that waits too long for a build', async () => {
    queried = await Queried.open({});
    await queried.write(new Map([['a', 1]]));
    // The thread is there before the build.
    await queried.ask('SELECT (1 AS ?v) {}');
    await queried.until(() => queried.builds === 1);
    queried.index.leave();
    const { ready } = queried.index;
    queried.index.ready = () => ready.call(queried.index, 0);
    // Otherwise the build may be complete before the query waits for it.
    const endTurn = await processBudget.turn();
    const error = await queried.read().catch((thrown: unknown) => thrown);
    endTurn();
    expect(error).to.be.an.instanceOf(LwsError).with.property('code', 'too-busy');
    expect(String(error)).to.match(/The index for queries has been under construction for \d+ seconds\./);
    queried.index.ready = ready;
    await queried.until(() => queried.builds === 2);
    expect([...(await queried.read()).keys()]).to.deep.equal(['a']);
  });

  it('is not needed by callers that may read few triples, so that they get the same answers with any hidden data', async () => {
    queried = await Queried.open({});
    await queried.write(
      new Map([
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ]),
    );
    // The index of owners is complete.
    await queried.store.transact((tx) => tx.putEntry(indexStateKey, completeIndex));
    // As while the index of a large storage is built.
    queried.index.use = () => {};
    queried.index.ready = async () => {
      throw new LwsError('too-busy', 'under construction');
    };
    const query = 'SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?v) AS ?d) { ?s ?p ?v }';
    const creator = 'https://id.example/creator';
    for (const [scope, expected] of [
      ['nothing', '0,0'],
      [{ ranges: [] }, '0,0'],
      [{ owner: creator, ranges: [] }, '0,0'],
      [{ ranges: [only(`${root}b`)] }, '5,1'],
      [{ owner: creator, ranges: [{ from: `${root}a`, to: `${root}c` }] }, '10,2'],
    ] as const)
      expect((await queried.ask(query, scope)).trim().split('\r\n')[1], JSON.stringify(scope)).to.equal(expected);
    const error = await queried.ask(query).catch((thrown: unknown) => thrown);
    expect(error).to.be.an.instanceOf(LwsError).with.property('code', 'too-busy');
  });

  it('logs why it could not be built', async () => {
    queried = await Queried.open({ folder: import.meta.filename });
    queried.index.start();
    await queried.until(() => queried.said.some((line) => line.includes('could not be built')));
    const error = await queried.read().catch((thrown: unknown) => thrown);
    expect(error).to.be.an.instanceOf(LwsError).with.property('code', 'too-busy');
    expect(String(error)).to.include('The index for queries could not be built.');
  });
});
