/** Rule 1.12: graphs below and above the limit behave the same, except for text, blank node labels and the length of JSON-LD. */
import { expect } from 'chai';
import { largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { StorageUnderTest } from '../support/conformance.js';
import type { Answer } from '../support/http.js';
import { rdfTypes } from '../support/rdf.js';

const update = 'application/sparql-update';
const type = { 'Content-Type': update };
const line = (number: number): string =>
  `<http://data.example/s${number}> <http://data.example/p> "text ${number}" .\n`;
const blank = '_:a <http://data.example/knows> [ <http://data.example/p> "x" ] .\n';
const lines = (count: number): string => Array.from({ length: count }, (_, i) => line(i)).join('');
/** Graph with the given number of triples. */
const graph = (triples: number): string => blank + lines(triples - 2);

type Fields = Readonly<Record<string, string>>;
/** Request to a resource. */
interface Step {
  readonly method: string;
  readonly headers?: Fields;
  readonly body?: string;
}

/** Allowed differences: values that depend on the length, and times. */
const lengths = new Set(['content-length', 'date', 'last-modified', 'keep-alive', 'transfer-encoding']);
const hashes = /(?:[\w+/-]{12,}\.)?[\w-]+(?=")|sha-256=:[^:]+:/g;

describe('Graphs below and above the size limit', () => {
  const s = new StorageUnderTest();
  let both: readonly [below: string, above: string];
  before(async () => {
    await s.open({});
    both = [s.fresh(), s.fresh()];
    for (const [at, iri] of both.entries())
      expect((await s.put(iri, 'text/turtle', graph(largeGraph - 1 + 2 * at))).status).to.equal(201);
  });
  after(() => s.close());
  afterEach(async () => {
    if (s.server) expect((await checkStore(s.server.server.store)).faults).to.deep.equal([]);
  });

  /** Returns the response without the allowed differences. */
  const seen = (iri: string, { status, headers, text }: Answer) => {
    const plain = (value: string): string =>
      value
        .replaceAll(iri, 'it')
        .replaceAll(new URL(iri).pathname, 'it')
        .replace(hashes, '')
        .replace(/urn:uuid:[\w-]+/g, '');
    const fields = Object.entries(headers).filter(([name]) => !lengths.has(name));
    return {
      status,
      headers: fields.map(([name, value]) => [name, plain(String(value))]).sort(),
      ...(status >= 400 ? { text: plain(text) } : {}),
    };
  };

  /** Sends the same request to both. @param step builds it from the ETag and date of a resource */
  async function alike(
    what: string,
    status: number,
    step: (of: { tag: string; date: string }) => Step,
  ): Promise<Answer[]> {
    const answers: Answer[] = [];
    const found: unknown[] = [];
    for (const iri of both) {
      const { headers: before } = await s.head(iri);
      const {
        method,
        headers = {},
        body,
      } = step({
        tag: before['etag'] ?? '',
        date: before['last-modified'] ?? '',
      });
      const answer = await s.send(method, iri, headers, body);
      expect(answer.status, `${what}: ${answer.text.slice(0, 300)}`).to.equal(status);
      answers.push(answer);
      found.push(seen(iri, answer));
    }
    expect(found[1], what).to.deep.equal(found[0]);
    return answers;
  }

  /** Triples as lines, independent of blank node labels. */
  const triplesOf = (text: string): Set<string> => new Set(text.replaceAll(/_:\w+/g, '_:').trimEnd().split('\n'));

  /** The line counts differ, and the larger graph contains the lines of the smaller. */
  async function expectSameGraphs(): Promise<void> {
    const Accept = 'application/n-triples';
    const [below, above] = await alike('N-Triples', 200, () => ({ method: 'GET', headers: { Accept } }));
    const own = triplesOf(below!.text);
    const more = [...triplesOf(above!.text)].filter((triple) => !own.has(triple));
    expect(more.sort()).to.deep.equal(
      [line(largeGraph - 3), line(largeGraph - 2)].map((each) => each.trimEnd()).sort(),
    );
  }

  it('are read the same in every format, with GET and HEAD', async () => {
    for (const Accept of [...rdfTypes, 'text/html', 'image/png', 'text/turtle;q=0.1, application/ld+json'])
      for (const method of ['GET', 'HEAD'])
        await alike(`${method} ${Accept}`, 200, () => ({ method, headers: { Accept } }));
    await expectSameGraphs();
  }).timeout(120_000);

  it('are read the same with every condition, range and digest', async () => {
    const conditions: readonly [number, (of: { tag: string; date: string }) => Fields][] = [
      [304, ({ tag }) => ({ 'If-None-Match': tag })],
      [304, () => ({ 'If-None-Match': '*' })],
      [200, () => ({ 'If-None-Match': '"another"' })],
      [200, ({ tag }) => ({ 'If-Match': tag })],
      [412, () => ({ 'If-Match': '"another"' })],
      [412, () => ({ 'If-Unmodified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' })],
      [200, () => ({ 'If-Modified-Since': 'Thu, 01 Jan 2015 00:00:00 GMT' })],
      [200, () => ({ Range: 'bytes=0-9' })],
      [200, () => ({ 'Want-Repr-Digest': 'sha-256=1' })],
      [200, () => ({ 'Accept-Encoding': 'identity' })],
    ];
    for (const [status, fields] of conditions)
      for (const method of ['GET', 'HEAD'])
        await alike(`${method} ${JSON.stringify(fields({ tag: '', date: '' }))}`, status, (of) => ({
          method,
          headers: fields(of),
        }));
    await alike('OPTIONS', 204, () => ({ method: 'OPTIONS' }));
    await alike('POST', 405, () => ({
      method: 'POST',
      headers: { 'Content-Type': 'text/turtle' },
      body: '<> <> <> .',
    }));
  }).timeout(120_000);

  it('are patched the same', async () => {
    const known = Array.from({ length: 200 }, (_, at) => line(at)).join('');
    const patches: readonly [number, string, Fields?][] = [
      [204, `DELETE DATA { ${line(7)} }`],
      [204, `INSERT DATA { ${line(7)} }`],
      [204, `DELETE DATA { ${line(7)} } ; INSERT DATA { ${line(7)} }`],
      [204, 'INSERT DATA {}'],
      [204, `INSERT DATA { ${known} }`],
      [204, `DELETE DATA { ${known} } ; INSERT DATA { ${known} }`],
      [204, `DELETE { ?s ?p ?o } INSERT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(?o = "text 9") }`],
      [204, 'DELETE WHERE { <http://data.example/none> ?p ?o }'],
      [204, 'DELETE { ?b ?p "x" } INSERT { ?b ?p "x" } WHERE { ?b ?p "x" }'],
      [204, 'INSERT { "x" ?p 1 } WHERE { ?s ?p "x" }'],
      [204, 'INSERT DATA { <<( <http://a.example/> <http://b.example/> 1 )>> <http://p.example/> 1 }'],
      [400, 'INSERT DATA { <a> <b> }'],
      [400, 'INSERT DATA { GRAPH <http://g.example/> { <a> <b> 1 } }'],
      [400, 'CLEAR ALL'],
      [400, 'SELECT * { ?s ?p ?o }'],
      [400, `INSERT DATA { <http://long.example/${'x'.repeat(70_000)}> <http://p.example/> 1 }`],
      [412, 'INSERT DATA { <a> <b> 1 }', { 'If-Match': '"another"' }],
      [412, 'INSERT DATA { <a> <b> 1 }', { 'If-None-Match': '*' }],
      [415, '[]', { 'Content-Type': 'application/json-patch+json' }],
      [415, '', { 'Content-Type': 'text/n3' }],
    ];
    for (const [status, body, headers = {}] of patches)
      await alike(`PATCH ${body.slice(0, 80)}`, status, ({ tag }) => ({
        method: 'PATCH',
        headers: { ...type, ...(status === 204 ? { 'If-Match': tag } : {}), ...headers },
        body,
      }));
    await expectSameGraphs();
  }).timeout(120_000);

  it('keep their ETag if a patch changes nothing, and get a new one otherwise', async () => {
    for (const [changes, body] of [
      [false, `INSERT DATA { ${line(3)} }`],
      [false, 'DELETE WHERE { <http://data.example/none> ?p ?o }'],
      [true, `DELETE DATA { ${line(3)} }`],
      [true, `INSERT { <http://data.example/s3> ?p "text 3" } WHERE { <http://data.example/s4> ?p ?o }`],
    ] as const)
      for (const iri of both) {
        const before = await s.tag(iri);
        expect((await s.patch(iri, update, body)).status, body).to.equal(204);
        expect((await s.tag(iri)) !== before, body).to.equal(changes);
      }
    await expectSameGraphs();
  }).timeout(60_000);

  it('are replaced, deleted and created the same', async () => {
    const put = (headers: Fields, body?: string) => (of: { tag: string }) => ({
      method: 'PUT',
      headers: { 'Content-Type': 'text/turtle', ...(headers['If-Match'] === 'tag' ? { 'If-Match': of.tag } : headers) },
      body: body ?? '<> <#p> 1 .',
    });
    await alike('PUT without a condition', 428, put({}));
    await alike('PUT of another state', 412, put({ 'If-Match': '"another"' }));
    await alike('PUT of nothing', 412, put({ 'If-None-Match': '*' }));
    await alike('PUT of no Turtle', 400, put({ 'If-Match': 'tag' }, '<a> <b>'));
    await alike('DELETE of another state', 412, () => ({ method: 'DELETE', headers: { 'If-Match': '"another"' } }));
    for (const [at, iri] of both.entries()) {
      const answer = await s.put(iri, 'text/turtle', graph(largeGraph - 1 + 2 * at), { 'If-Match': '*' });
      expect(answer.status, answer.text).to.equal(204);
    }
    await expectSameGraphs();
    await alike('DELETE', 204, ({ tag }) => ({ method: 'DELETE', headers: { 'If-Match': tag } }));
    for (const iri of both) await s.expectAbsent(iri);
    for (const [at, iri] of both.entries()) {
      // The larger one is loaded by one insert-only update (rule 6.18).
      const body = `INSERT DATA { ${graph(largeGraph - 1 + 2 * at)} }`;
      expect((await s.patch(iri, update, body)).status).to.equal(201);
    }
    await expectSameGraphs();
  }).timeout(120_000);
});
