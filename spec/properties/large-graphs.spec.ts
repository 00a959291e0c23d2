/** Graphs around the size limit of large graphs, after random writes, moves and copies, compared with a set of lines. */
import { expect } from 'chai';
import fc from 'fast-check';
import { textIndex } from '../../components/search/text-search/indexer.js';
import { typeIndex } from '../../components/search/type-index/indexer.js';
import { isLargeGraph, largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { request } from '../support/http.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { runs } from '../support/speed.js';

const filler = (number: number): string => `<http://data.example/s> <http://data.example/p> "${number}" .`;
/** Indexed triples of the resource itself, with duplicate facts. */
const own = (iri: string): string[] =>
  ['a', 'b'].flatMap((fragment) => [
    `<${iri}#${fragment}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://data.example/Type> .`,
    `<${iri}#${fragment}> <http://data.example/knows> <http://data.example/x> .`,
    `<${iri}#${fragment}> <http://data.example/knows> <http://data.example/${fragment}> .`,
  ]);

const numbers = fc.array(fc.integer({ min: largeGraph - 6, max: largeGraph + 6 }), { maxLength: 8 });
const owned = fc.subarray([0, 1, 2, 3, 4, 5]);
const step = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      put: fc.integer({ min: largeGraph - 4, max: largeGraph + 4 }),
      owned,
      replaces: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ insert: numbers, owned }) },
  { weight: 4, arbitrary: fc.record({ remove: numbers, owned }) },
  { weight: 2, arbitrary: fc.record({ together: numbers }) },
  { weight: 2, arbitrary: fc.record({ method: fc.constantFrom('MOVE', 'COPY'), rewrites: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe('Large graphs after random writes', () => {
  let server: SpecServer;
  let count = 0;
  before(async () => {
    server = await startSpecServer({ settings: { 'text-search.enabled': 'true' } });
  });
  after(() => server.stop());

  const send = (method: string, iri: string, type?: string, body?: string, headers: Record<string, string> = {}) =>
    request(iri, {
      method,
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...(type ? { 'Content-Type': type } : {}), ...headers },
      body,
    });
  const change = async (iri: string, text: string): Promise<void> => {
    const { status, text: problem } = await send('PATCH', iri, 'application/sparql-update', text);
    expect(status, problem).to.equal(204);
  };

  /** @returns the name of the resource after the step */
  async function take(iri: string, model: Set<string>, next: Step): Promise<string> {
    const lines = own(iri);
    if ('method' in next) {
      const to = `${server.root}${next.rewrites ? 'a' : 'z'}${count++}`;
      const Prefer = next.rewrites ? 'rewrite-links' : 'return=minimal';
      const { status, text } = await send(next.method, iri, undefined, undefined, { Destination: to, Prefer });
      expect(status, text).to.equal(201);
      const rewritten = next.rewrites ? [...model].map((line) => line.replaceAll(`<${iri}#`, `<${to}#`)) : [...model];
      model.clear();
      for (const line of rewritten) model.add(line);
      if (next.method === 'COPY') await send('DELETE', iri);
      else expect((await send('GET', iri)).status).to.equal(404);
      return to;
    }
    if ('put' in next) {
      model.clear();
      for (let i = 0; i < next.put; i++) model.add(filler(i));
      for (const at of next.owned) model.add(lines[at]!);
      const headers: Record<string, string> = next.replaces ? { 'If-Match': '*' } : {};
      if (!next.replaces) await send('DELETE', iri);
      const answer = await send('PUT', iri, 'application/n-triples', [...model].join('\n'), headers);
      expect(answer.status, answer.text).to.equal(next.replaces ? 204 : 201);
    } else if ('together' in next) {
      const fresh = [...new Set(next.together)].map((number) => filler(number + 1_000_000));
      for (const line of fresh) model.add(line);
      await Promise.all(fresh.map((line) => change(iri, `INSERT DATA { ${line} }`)));
    } else {
      const inserts = 'insert' in next;
      const named = [...(inserts ? next.insert : next.remove).map(filler), ...next.owned.map((at) => lines[at]!)];
      for (const line of named) inserts ? model.add(line) : model.delete(line);
      await change(iri, `${inserts ? 'INSERT' : 'DELETE'} DATA { ${named.join('\n')} }`);
    }
    return iri;
  }

  async function expectState(iri: string, model: ReadonlySet<string>): Promise<void> {
    const { store } = server.server;
    const turtle = await send('GET', iri);
    const record = store.record(iri)!;
    expect(record.triples).to.equal(model.size);
    expect(record.size).to.equal(turtle.bytes.length);
    expect(turtle.headers['content-length']).to.equal(String(record.size));
    expect(turtle.headers['etag']).to.equal(`"${record.revision}.ttl"`);
    if (!isLargeGraph(model.size)) expect(turtle.text).not.to.match(/^<[^\n]*> \.\n$/);
    const nTriples = await request(iri, {
      headers: { Authorization: `Bearer ${server.ownerToken}`, Accept: 'application/n-triples' },
    });
    const found = nTriples.text.trimEnd().split('\n').sort();
    expect(found.length).to.equal(model.size);
    expect(found.join('\n') === [...model].sort().join('\n'), 'the same triples').to.equal(true);
  }

  it('have the expected triples, sizes, tags and indexes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async (steps) => {
        let iri = `${server.root}g${count++}`;
        const model = new Set<string>();
        await take(iri, model, { put: largeGraph + 1, owned: [0, 1], replaces: false });
        const tags = new Set<string>();
        for (const each of steps) {
          const before = [...model].join();
          const { revision } = server.server.store.record(iri)!;
          iri = await take(iri, model, each);
          await expectState(iri, model);
          tags.add(revision);
          const now = server.server.store.record(iri)!.revision;
          if ([...model].join() !== before) expect(tags.has(now), 'a new tag').to.equal(false);
        }
        for (const index of [typeIndex, textIndex])
          for await (const fault of index.faultsOf(server.server.store)) expect.fail(fault);
        await send('DELETE', iri);
      }),
      { numRuns: runs(3) },
    );
    expect((await checkStore(server.server.store)).faults).to.deep.equal([]);
  }).timeout(60_000);
});
