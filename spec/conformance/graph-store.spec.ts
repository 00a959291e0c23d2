/** Rule 14.10: the SPARQL 1.1 Graph Store HTTP Protocol: the cases of its test suite, then the rules of resources. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectChallenge, expectProblem, listOf } from '../support/expectations.js';
import { expectGraph } from '../support/rdf.js';

const turtle = { 'Content-Type': 'text/turtle' };
const john = '<http://$HOST$/person/1> a <urn:Person> ; <urn:name> "John" .';
const jane = '<http://$HOST$/person/2> a <urn:Person> ; <urn:name> "Jane" .';

describeStorage(
  'Graph Store Protocol',
  (s) => {
    const store = (): string => `${s.root}.lws/graphs`;
    const at = (iri: string): string => `${store()}?graph=${encodeURIComponent(iri)}`;
    const send = (method: string, iri: string, body?: string, fields = {}, sender?: Sender) =>
      s.send(method, at(iri), { ...(body === undefined ? {} : turtle), ...fields }, body, sender);

    it('responses for unreadable and nonexistent graphs are identical in every field (rules 4.2, 6.18, 14.10)', async () => {
      const hidden = [
        (await s.stored('application/json', '{}')).iri,
        (await s.stored('text/plain', 'x')).iri,
        (await s.stored('text/turtle', '')).iri,
      ];
      const told = async (method: string, iri: string): Promise<string> => {
        const { status, headers, text } = await send(method, iri, undefined, {}, s.stranger);
        const { date, ...others } = headers;
        expect(date).to.be.a('string');
        return JSON.stringify({ status, others, text })
          .replaceAll(iri, 'IRI')
          .replace(/urn:uuid:[0-9a-f-]{36}/g, 'ID');
      };
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'QUERY'])
        for (const iri of hidden) expect(await told(method, iri), method).to.equal(await told(method, s.fresh()));
      for (const method of ['PUT', 'POST']) expectProblem(await send(method, `${s.fresh()}.acl`, john), 409, s);
    });

    it('PUT, GET and DELETE: initial state, existing graph, empty graph', async () => {
      const iri = s.fresh();
      const put = await send('PUT', iri, john);
      expect([put.status, put.headers['location'], put.headers['content-location']], put.text).to.deep.equal([
        201,
        iri,
        iri,
      ]);
      await expectGraph(await s.get(at(iri)), iri, john);
      await expectGraph(await s.get(iri), iri, john);
      expect((await s.get(at(iri))).headers['etag']).to.equal((await s.get(iri)).headers['etag']);
      expect((await send('PUT', iri, jane)).status).to.equal(204);
      await expectGraph(await s.get(at(iri)), iri, jane);
      expect((await send('PUT', iri, '')).status).to.equal(204);
      await expectGraph(await s.get(at(iri)), iri, '');
      expect((await send('HEAD', iri)).status).to.equal(200);
      expect((await send('DELETE', iri)).status).to.equal(204);
      expectProblem(await s.get(at(iri)), 404, s);
      expectProblem(await send('DELETE', iri), 404, s);
      await s.expectAbsent(iri);
    });

    it('POST adds to the graph, creates it if necessary, and renames blank nodes', async () => {
      const iri = s.fresh();
      const created = await send('POST', iri, john);
      expect([created.status, created.headers['location']], created.text).to.deep.equal([201, iri]);
      expect((await send('POST', iri, jane)).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${john}\n${jane}`);
      for (let i = 0; i < 2; i++) expect((await send('POST', iri, '_:b <urn:p> "x" .')).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${john}\n${jane} _:a <urn:p> "x" . _:b <urn:p> "x" .`);
      const before = (await s.get(iri)).headers['etag'];
      expect((await send('POST', iri, john)).status).to.equal(204);
      expect((await s.get(iri)).headers['etag']).to.equal(before);
    });

    it('POST without a graph creates one with a new name', async () => {
      const { status, headers, text } = await s.send('POST', store(), turtle, john);
      expect(status, text).to.equal(201);
      await expectGraph(await s.get(at(headers['location']!)), headers['location']!, john);
      expectProblem(await s.send('POST', store(), { 'Content-Type': 'text/plain' }, 'x'), 415, s);
      expectProblem(await s.send('POST', store(), turtle, john, s.stranger), 404, s);
    });

    it('POST of thousands of triples in another syntax', async () => {
      const iri = s.fresh();
      const line = (i: number): string => `<urn:s${i}> <urn:p> "${i}" .\n`;
      const body = Array.from({ length: 3000 }, (_, i) => line(i)).join('');
      expect((await send('POST', iri, body, { 'Content-Type': 'application/n-triples' })).status).to.equal(201);
      await expectGraph(await s.get(iri), iri, body);
    });

    const type = 'multipart/form-data; boundary="a b"';
    const field = 'Content-Disposition: form-data; name="graph"; filename="a.ttl"';
    const part = (of: string, text: string, own = field): string => `${own}\r\nContent-Type: ${of}\r\n\r\n${text}`;
    const form = (...parts: readonly string[]): string =>
      `${parts.map((each) => `--a b\r\n${each}\r\n`).join('')}--a b--\r\n`;

    it('POST of multipart/form-data adds each document, with separate blank nodes', async () => {
      const iri = s.fresh();
      const blank = '_:b <urn:p> "x" .';
      const body = form(
        part('text/turtle; charset=utf-8', `${john}\r\n${blank}`),
        part('application/n-triples', blank),
        part('application/ld+json', '{ "@id": "#it", "urn:p": "--a b" }'),
      );
      const created = await send('POST', iri, body, { 'Content-Type': type });
      expect([created.status, created.headers['location']], created.text).to.deep.equal([201, iri]);
      const all = `${john} _:a <urn:p> "x" . _:b <urn:p> "x" . <#it> <urn:p> "--a b" .`;
      await expectGraph(await s.get(iri), iri, all);
      expect((await send('POST', iri, form(part('text/turtle', jane)), { 'Content-Type': type })).status).to.equal(204);
      await expectGraph(await s.get(iri), iri, `${all} ${jane}`);
      const nameless = await s.send('POST', store(), { 'Content-Type': type }, body);
      expect(nameless.status, nameless.text).to.equal(201);
      await expectGraph(await s.get(nameless.headers['location']!), nameless.headers['location']!, all);
      expect(listOf(await send('OPTIONS', iri), 'accept-post')).to.include('multipart/form-data');
      for (const target of [at(iri), store()])
        expectProblem(await s.send('POST', target, { 'Content-Type': type }, body, s.stranger), 404, s);
    });

    it('POST of form data in the encoding of a browser', async () => {
      const iri = s.fresh();
      const data = new FormData();
      data.append('a', new Blob([john], { type: 'text/turtle' }), 'é "1".ttl');
      data.append('b', new Blob([jane], { type: 'text/turtle' }));
      const encoded = new Request('http://localhost/', { method: 'POST', body: data });
      const body = Buffer.from(await encoded.arrayBuffer());
      const sent = await s.send('POST', at(iri), { 'Content-Type': encoded.headers.get('content-type')! }, body);
      expect(sent.status, sent.text).to.equal(201);
      await expectGraph(await s.get(iri), iri, `${john} ${jane}`);
    });

    const good = part('text/turtle', john);
    const refused: Readonly<Record<string, readonly [status: number, body: string, type?: string]>> = {
      'a part without Content-Type': [400, form(good, `${field}\r\n\r\n${jane}`)],
      'a part of another type': [415, form(good, part('text/plain', 'x'))],
      'a part that is a form itself': [415, form(good, part('multipart/mixed; boundary=x', 'x'))],
      'a document that is broken': [400, form(good, part('text/turtle', '<a> <b'))],
      'a document with a named graph': [400, form(good, part('application/trig', '<x:g> { <x:s> <x:p> 1 }'))],
      'no boundary in its type': [400, form(good), 'multipart/form-data'],
      'another boundary': [400, form(good), 'multipart/form-data; boundary=b'],
      'no part': [400, '--a b--\r\n'],
      'no last boundary': [400, form(good).replace('--a b--', '')],
      'text before it': [400, `x\r\n${form(good)}`],
      'text behind it': [400, `${form(good)}x`],
      'text in the line of a boundary': [400, form(good).replace('--a b', '--a b ')],
      'line feeds alone': [400, form(good).replaceAll('\r', '')],
      'a folded field': [400, form(part('text/turtle', john, `${field};\r\n x=y`))],
      'a repeated field': [400, form(part('text/turtle', john, `${field}\r\nContent-Type: text/plain`))],
      'a space before a colon': [400, form(part('text/turtle', john, field.replace(':', ' :')))],
      'no disposition': [400, form('Content-Type: text/turtle\r\n\r\n')],
      'another disposition': [400, form(part('text/turtle', john, field.replace('form-data', 'attachment')))],
      'a part without a name': [400, form(part('text/turtle', john, 'Content-Disposition: form-data'))],
      'encoded content': [400, form(part('text/turtle', john, `${field}\r\nContent-Transfer-Encoding: base64`))],
      'a malformed type': [400, form(part('turtle', john))],
      'too many parts': [400, form(...Array.from({ length: 1_001 }, () => part('text/turtle', '')))],
    };
    for (const [what, [status, body, own = type]] of Object.entries(refused))
      it(`rejects form data with ${what} and changes nothing`, async () => {
        const { iri, etag } = await s.stored('text/turtle', jane);
        expectProblem(await s.send('POST', at(iri), { 'Content-Type': own }, body), status, s);
        expect(await s.tag(iri)).to.equal(etag);
      });

    it('is negotiated and authorized like the resource', async () => {
      const iri = s.fresh();
      await send('PUT', iri, john);
      const { headers } = await s.get(at(iri), { Accept: 'application/n-triples' });
      expect(headers['content-type']).to.equal('application/n-triples');
      expect((await s.get(at(iri), { 'If-None-Match': (await s.get(at(iri))).headers['etag']! })).status).to.equal(304);
      for (const method of ['PUT', 'POST', 'DELETE'])
        expectProblem(await send(method, iri, method === 'DELETE' ? undefined : jane, { 'If-Match': '"x"' }), 412, s);
      await expectGraph(await s.get(iri), iri, john);
      expect(listOf(await send('OPTIONS', iri), 'allow')).to.include.members(['get', 'put', 'post', 'delete']);
    });

    it('reveals as little to unauthorized callers as the resource', async () => {
      const iri = s.fresh();
      await send('PUT', iri, john);
      for (const target of [iri, s.fresh()])
        for (const method of ['GET', 'PUT', 'POST', 'DELETE']) {
          const body = method === 'PUT' || method === 'POST' ? jane : undefined;
          expectChallenge(await send(method, target, body, {}, 'anonymous'), s);
          expectProblem(await send(method, target, body, {}, s.stranger), 404, s);
        }
      await expectGraph(await s.get(iri), iri, john);
    });

    it('contains only RDF resources: no containers, binaries, linksets or default graph', async () => {
      const { iri: bytes } = await s.stored('text/plain', 'x');
      for (const iri of [bytes, s.scratch, `${bytes}.meta`, `${s.root}.lws/graphs`])
        for (const method of ['GET', 'POST', 'DELETE'])
          expectProblem(
            await send(method, iri, method === 'POST' ? jane : undefined),
            method === 'POST' && /\.meta$|\.lws/.test(iri) ? 409 : 404,
            s,
          );
      expect((await s.get(bytes)).text).to.equal('x');
      expectProblem(await send('PUT', s.fresh('/'), jane), 400, s);
      for (const iri of [`${s.fresh()}.meta`, `${s.root}.lws/x`]) expectProblem(await send('PUT', iri, jane), 409, s);
      for (const query of [
        '',
        '?default',
        '?graph=',
        '?graph=r1',
        '?graph=https://other.example/x',
        `?graph=${s.root}a%23b`,
      ])
        expectProblem(await s.get(store() + query), 400, s);
      expectProblem(await s.get(`${at(bytes)}&graph=${s.root}b`), 400, s);
      expectProblem(await s.send('PATCH', at(bytes), turtle, john), 405, s);
    });

    it('rejects non-RDF types and malformed RDF, and changes nothing', async () => {
      const iri = s.fresh();
      expectProblem(await send('PUT', iri, 'x', { 'Content-Type': 'text/plain' }), 415, s);
      expectProblem(await send('POST', iri, 'x', { 'Content-Type': 'text/plain' }), 415, s);
      expectProblem(await send('PUT', iri, '<a> <b'), 400, s);
      expectProblem(await send('POST', iri, '<a> <b'), 400, s);
      expectProblem(await send('POST', `${s.fresh('/')}deep`, john), 404, s);
      await s.expectAbsent(iri);
    });
  },
  { settings: { 'require-conditional-writes': 'false' } },
);

describeStorage('Graph Store Protocol with conditional writes', (s) => {
  it('requires a condition in the same cases as PUT of the resource', async () => {
    const { iri, etag } = await s.stored('text/turtle', john);
    const target = `${s.root}.lws/graphs?graph=${encodeURIComponent(iri)}`;
    expectProblem(await s.send('PUT', target, turtle, jane), 428, s);
    expect((await s.send('PUT', target, { ...turtle, 'If-Match': etag }, jane)).status).to.equal(204);
  });
});
