/** Error messages with the relevant setting, key or position in the text (rule 10.1). */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { endpointOf } from '../support/sparql.js';

const turtle = 'text/turtle';

describeStorage(
  'Refusals',
  (s) => {
    const detailOf = async (...args: Parameters<typeof s.send>): Promise<string> =>
      (JSON.parse((await s.send(...args)).text) as { detail: string }).detail;
    const query = (text: string): Promise<string> =>
      detailOf('POST', endpointOf(s), { 'Content-Type': 'application/sparql-query' }, text);

    it('name the setting that would permit the request (rule 10.1)', async () => {
      expect(await detailOf('PUT', `${s.fresh()}.acl`, { 'Content-Type': turtle }, '')).to.include(
        'lws.access-control=wac',
      );
      expect(await query('SELECT * { SERVICE <https://other.example/> { ?s ?p ?o } }')).to.include(
        'lws.sparql.endpoint.allowed-services',
      );
      const update = { 'Content-Type': 'application/sparql-update' };
      expect(await detailOf('POST', endpointOf(s), update, 'CLEAR ALL')).to.include('lws.sparql.endpoint.update');
    });

    it('name the wrong key, and the quotes of an ETag (rule 10.1)', async () => {
      expect(await detailOf('GET', `${s.root}.lws/type-search?typ=x`))
        .to.include('"typ"')
        .and.to.include('"x"');
      const { iri } = await s.stored(turtle, '');
      expect(await detailOf('PUT', iri, { 'Content-Type': turtle, 'If-Match': 'abc' }, '')).to.include('quotes');
    });

    for (const [text, what, place] of [
      ['SELECT * {\n ?s foaf:name ?o }', 'PREFIX foaf: <http://xmlns.com/foaf/0.1/>', 'line 2, column 5'],
      ['SELECT * { ?s my:name "foaf:x" }', 'prefix my: is not declared', 'line 1, column 15'],
      ['SELEC * {}', 'SELEC is not a SPARQL keyword', 'line 1, column 1'],
      ['ASELECT * {}', 'ASELECT is not a SPARQL keyword', 'line 1, column 1'],
      ['SELECT ?x ?y\n?x { }', '?x is selected twice', 'line 2, column 1'],
      ['SELECT * { _:a ?p "_:a" OPTIONAL { _:a ?q ?r } }', '_:a is used in two groups of triples', 'line 1, column 36'],
      ['SELECT * { VALUES (?a ?b) { (1) } }', 'a row of VALUES has fewer values than variables', ''],
      ['SELECT * { FILTER(foo(1)) }', 'foo is not a SPARQL function', 'line 1, column 19'],
      ['SELECT * { ?s ?p ?o', 'unexpected end of the text; expected }', 'line 1, column 20'],
      ['SELECT * { ?s ?p "o }', 'a string begins here', 'line 1, column 18'],
      ['BASE <http://a.example/long/> SELECT * { <x> ?p }', 'unexpected "}"', 'line 1, column 49'],
      ['SELECT * { ?s ?p ?o } LIMIT -1', 'expected a number', 'line 1, column 29'],
    ] as const)
      it(`${JSON.stringify(text)} is reported in SPARQL terms, with the position (rule 14.5)`, async () => {
        const detail = await query(text);
        expect(detail).to.include(what).and.to.include(place);
        expect(detail).not.to.match(/Token|-->|skipped|PName/);
      });

    it('errors in updates and RDF/XML are reported in their terms (rules 1.6, 6.15)', async () => {
      const { iri } = await s.stored(turtle, '');
      const update = { 'Content-Type': 'application/sparql-update' };
      expect(await detailOf('PATCH', iri, update, 'INSERT DATA { <> foaf:name 1 }'))
        .to.include('prefix foaf')
        .and.to.include('line 1, column 18');
      const xml = { 'Content-Type': 'application/rdf+xml' };
      expect(await detailOf('PUT', s.fresh(), xml, '<rdf:RDF>'))
        .to.include('xmlns:rdf')
        .and.to.include('line 1, column 9');
    });

    it('a similar name is suggested only to callers that may read it (rule 4.1)', async () => {
      const container = await s.container();
      const name = container.slice(0, -1);
      expect(await detailOf('GET', name)).to.include(container);
      expect(await detailOf('GET', name, {}, undefined, s.stranger)).not.to.include(container);
      const { iri } = await s.stored(turtle, '');
      expect(await detailOf('GET', `${iri}/`)).to.include(iri);
      expect(await detailOf('GET', s.fresh())).not.to.include('Did you mean');
    });

    it('a form sent by curl is stored with a hint; other types have none', async () => {
      const form = 'application/x-www-form-urlencoded';
      expect((await s.put(s.fresh(), form, 'a=b')).headers['lws-hint']).to.include(form);
      expect((await s.post(s.scratch, `${form}; charset=utf-8`, 'a=b')).headers['lws-hint']).to.include(form);
      expect((await s.put(s.fresh(), 'text/plain', 'a=b')).headers['lws-hint']).to.equal(undefined);
    });

    for (const [line, status] of [
      ['BREW / HTTP/1.1', 501],
      ['\u0016\u0003\u0001 hello', 400],
      ['hello', 400],
    ] as const)
      it(`RFC 9110 9.1: ${JSON.stringify(line)} is ${status}`, async () => {
        const { hostname, port } = new URL(s.root);
        const socket = connect(Number(port), hostname);
        socket.write(`${line}\r\nHost: ${hostname}\r\n\r\n`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        expect(String(answer)).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
        socket.destroy();
      });

    it('an unknown method on an unreadable resource gets the response of a rejected one (rule 10.1)', async () => {
      expectProblem(await s.send('PROPFIND', s.fresh()), 404, s);
    });
  },
  { settings: {} },
);
