/** Graphs of more than 20 000 triples (rule 1.12): one triple per line, in key order. The length of the lines is the size. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { largeGraph } from '../../lib/storage/graphs/graph-lines.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { StorageUnderTest } from '../support/conformance.js';
import { startRequest } from '../support/http.js';
import { graphOf, rdfTypes } from '../support/rdf.js';

const update = 'application/sparql-update';
const line = (number: number): string =>
  `<http://data.example/s${number}> <http://data.example/p> "text ${number} é" .\n`;
const lines = (count: number, from = 0): string => Array.from({ length: count }, (_, i) => line(from + i)).join('');
const odd = [
  '<http://data.example/s> <http://data.example/p> "a\\"b\\\\c\\nd\\u0007"@en-GB .',
  '<http://data.example/s> <http://data.example/p> "1.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .',
  '<http://data.example/s> <http://data.example/p> "x"^^<http://data.example/type> .',
  '<http://data.example/s> <http://data.example/😀> "😀 \\uFFFD" .',
  '_:a <http://data.example/knows> _:b .',
  '_:b <http://data.example/knows> _:a .',
  '<http://data.example/s> <http://data.example/knows> _:b .',
].join('\n');
const sorted = (text: string): string[] => text.trimEnd().split('\n').sort();

describe('Large graphs', () => {
  const s = new StorageUnderTest();
  const total = largeGraph + 1;
  let iri = '';
  before(async () => {
    await s.open({});
    ({ iri } = await s.stored('text/turtle', `${lines(total - 7)}${odd}`));
  });
  const sizeOf = async (resource: string): Promise<number> => {
    const listing = JSON.parse((await s.get(s.scratch, { Accept: 'application/lws+json' })).text);
    return listing.items.find((item: { id: string }) => item.id === resource).size;
  };

  after(() => s.close());
  afterEach(async () => {
    if (s.server) expect((await checkStore(s.server.server.store)).faults).to.deep.equal([]);
  });

  it('are served as lines of the listed size, in all four line-based syntaxes', async () => {
    const turtle = await s.get(iri);
    expect(turtle.headers['content-type']).to.equal('text/turtle');
    expect(turtle.headers['content-length']).to.equal(String(turtle.bytes.length));
    expect(await sizeOf(iri)).to.equal(turtle.bytes.length);
    expect(sorted(turtle.text)).to.have.length(total);
    const plain = sorted(`${lines(total - 7)}${odd}`).filter((each) => !each.includes('_:'));
    const served = sorted(turtle.text).filter((each) => !each.includes('_:'));
    expect(served.filter((each) => !/\\u|😀/.test(each))).to.deep.equal(plain.filter((each) => !/\\u|😀/.test(each)));
    for (const Accept of ['application/n-triples', 'application/trig', 'application/n-quads']) {
      const other = await s.get(iri, { Accept });
      expect(other.headers['content-type']).to.equal(Accept);
      expect(other.headers['etag']).not.to.equal(turtle.headers['etag']);
      expect(other.bytes.equals(turtle.bytes), Accept).to.equal(true);
    }
  });

  it('are the same graph in all syntaxes and can be written back', async () => {
    const words = async (Accept: string): Promise<string[]> =>
      (await graphOf(await s.get(iri, { Accept }), iri))
        .map(({ subject, predicate, object }) =>
          [subject, predicate, object].map((t) => (t.termType === 'BlankNode' ? '_' : JSON.stringify(t))).join(),
        )
        .sort();
    const expected = await words('text/turtle');
    expect(expected).to.have.length(total);
    for (const Accept of rdfTypes) expect(await words(Accept), Accept).to.deep.equal(expected);
    const copy = s.fresh();
    expect((await s.put(copy, 'text/turtle', (await s.get(iri)).bytes)).status).to.equal(201);
    expect((await s.get(copy)).bytes.length).to.equal((await s.get(iri)).bytes.length);
  }).timeout(20_000);

  it('support HEAD, conditional requests and digests', async () => {
    const whole = await s.get(iri);
    const head = await s.send('HEAD', iri);
    for (const name of ['etag', 'content-length', 'content-type', 'last-modified', 'vary'])
      expect(head.headers[name], name).to.equal(whole.headers[name]);
    const json = { Accept: 'application/ld+json' };
    expect((await s.send('HEAD', iri, json)).headers['content-length']).to.equal(undefined);
    expect((await s.get(iri, json)).headers['etag']).to.equal((await s.send('HEAD', iri, json)).headers['etag']);
    expect((await s.get(iri, { 'If-None-Match': whole.headers['etag']! })).status).to.equal(304);
    expect((await s.get(iri, { 'If-Match': '"another"' })).status).to.equal(412);
    const digest = `sha-256=:${createHash('sha256').update(whole.bytes).digest('base64')}=:`.replace('==:', '=:');
    for (const method of ['GET', 'HEAD']) {
      const answer = await s.send(method, iri, { 'Want-Repr-Digest': 'sha-256=1' });
      expect(answer.headers['repr-digest'], method).to.equal(digest);
    }
    // Ranges of RDF are ignored, as for small graphs.
    expect((await s.get(iri, { Range: 'bytes=0-9' })).bytes.length).to.equal(whole.bytes.length);
  });

  it('remain available after a client disconnects during the response', async () => {
    await new Promise<void>((resolve, reject) => {
      const req = startRequest(iri, { headers: s.token ? { Authorization: `Bearer ${s.token}` } : {} }, (res) => {
        res.once('data', () => {
          req.destroy();
          resolve();
        });
      });
      req.once('error', reject);
      req.end();
    });
    expect((await s.get(iri)).status).to.equal(200);
  });

  it('cross the limit in both directions with one patch', async () => {
    const at = s.fresh();
    expect((await s.put(at, 'text/turtle', lines(largeGraph))).status).to.equal(201);
    const small = await s.get(at);
    expect(small.text).not.to.equal(lines(largeGraph));
    expect((await s.patch(at, update, `INSERT DATA { ${line(largeGraph)} }`)).status).to.equal(204);
    const large = await s.get(at);
    expect(sorted(large.text)).to.deep.equal(sorted(lines(largeGraph + 1)));
    expect(await sizeOf(at)).to.equal(large.bytes.length);
    const where =
      'DELETE { ?s ?p ?o } INSERT { <#new> ?p ?o } WHERE { ?s ?p ?o FILTER(?s = <http://data.example/s0>) }';
    expect((await s.patch(at, update, where)).status).to.equal(204);
    const solved = await s.get(at);
    expect(solved.text).to.include(`<${at}#new> <http://data.example/p> "text 0 é" .`);
    expect(solved.headers['content-length']).to.equal(String(solved.bytes.length));
    const back = `INSERT DATA { ${line(0)} } ; DELETE DATA { <#new> <http://data.example/p> "text 0 é" . ${line(largeGraph)} }`;
    expect((await s.patch(at, update, back)).status).to.equal(204);
    const again = await s.get(at);
    expect(again.text).to.equal(small.text);
    expect(again.headers['etag']).not.to.equal(small.headers['etag']);
    expect(await sizeOf(at)).to.equal(small.bytes.length);
  }).timeout(20_000);

  it('replace and are replaced by large graphs, small graphs and non-RDF content', async () => {
    const at = s.fresh();
    const put = async (type: string, body: string): Promise<string> => {
      const answer = await s.put(at, type, body, { 'If-Match': '*' });
      expect(answer.status, answer.text).to.equal(204);
      return (await s.get(at, { Accept: 'application/n-triples, */*;q=0.5' })).text;
    };
    expect((await s.put(at, 'text/turtle', '<> <#p> 1 .')).status).to.equal(201);
    const [one, two] = [lines(total), lines(total, 5)];
    expect(sorted(await put('text/turtle', one))).to.deep.equal(sorted(one));
    expect(sorted(await put('text/turtle', two))).to.deep.equal(sorted(two));
    expect(await put('text/plain', 'text')).to.equal('text');
    expect(sorted(await put('application/n-triples', one))).to.deep.equal(sorted(one));
    expect(await put('text/turtle', line(1))).to.equal(line(1));
    expect((await s.delete(at)).status).to.equal(204);
  }).timeout(20_000);

  it('are rejected completely for an error at the end, and store nothing', async () => {
    const at = s.fresh();
    for (const [type, end, status] of [
      ['text/turtle', '<a> <b>', 400],
      ['application/n-triples', line(1).replace('\n', line(2)), 400],
      ['application/trig', '<http://g.example/> { <a> <b> <c> }', 400],
      ['text/turtle', `<a> <b> ${'1, '.repeat(500_001)} 2 .`, 413],
    ] as const)
      expect((await s.put(at, type, lines(total) + end)).status, end.slice(0, 20)).to.equal(status);
    expect((await s.get(at)).status).to.equal(404);
    const wrong = { 'If-Match': '"another"' };
    expect((await s.put(at, 'text/turtle', lines(total), wrong)).status).to.equal(412);
    expect((await s.put(at, 'text/turtle', line(1))).status).to.equal(201);
    expect((await s.get(at)).bytes.length).to.be.below(200);
  }).timeout(20_000);

  it('accept one of two concurrent PUTs', async () => {
    const at = s.fresh();
    const answers = await Promise.all(
      [0, 3].map((from) => s.put(at, 'text/turtle', lines(total, from), { 'If-None-Match': '*' })),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 412]);
    const from = answers[0]!.status === 201 ? 0 : 3;
    expect(sorted((await s.get(at)).text)).to.deep.equal(sorted(lines(total, from)));
  }).timeout(20_000);
});
