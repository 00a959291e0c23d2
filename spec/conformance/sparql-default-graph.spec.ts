/** Rule 14.17: `lws.sparql.endpoint.default-graph`. */
import { expect } from 'chai';
import { describeStorage, type Sender } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { type Answer, request } from '../support/http.js';
import { startSpecServer } from '../support/server.js';
import { endpointOf, formType, rows } from '../support/sparql.js';
import { postUpdate, update, updates } from '../support/sparql-update.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const settings = { ...updates, 'sparql.endpoint.default-graph': 'notes/default' };
const turtle = { 'Content-Type': 'text/turtle' };
const text = (value: string): string => `<urn:s> <urn:p> "${value}"`;

describeStorage(
  'A default graph for changes',
  (s) => {
    const iri = (): string => `${s.root}notes/default`;
    const store = (): string => `${s.root}.lws/graphs?default`;
    let other: string;
    before(async () => {
      await s.container(`${s.root}notes/`);
      other = `${s.root}notes/other`;
    });
    beforeEach(async () => {
      await s.delete(iri());
      await s.delete(other);
      await s.put(other, 'text/turtle', `${text('other')} .`);
    });
    const values = async (graph = iri()): Promise<string[]> => {
      const answer = await s.get(graph, { Accept: 'application/n-triples' });
      return [...answer.text.matchAll(/> "(\w+)" \./g)].map(([, value]) => value!).sort();
    };
    /** Runs an update that must succeed. @returns the values of the default graph and of the other graph */
    const after = async (sent: string): Promise<[string[], string[]]> => {
      await update(s, sent);
      return [await values(), await values(other)];
    };
    const insertion = (value: string): string => `INSERT DATA { ${text(value)} }`;

    it('is changed by updates without GRAPH, and created if it is absent (rule 14.17)', async () => {
      expect(await update(s, insertion('a'))).to.deep.equal(['default created']);
      expect(await rows(s, 'SELECT ?o { <urn:s> <urn:p> ?o } ORDER BY ?o')).to.deep.equal(['a', 'other']);
      expect(await update(s, `${insertion('b')} ; DELETE DATA { ${text('a')}, "other" }`)).to.deep.equal([
        'default changed',
      ]);
      expect([await values(), await values(other)]).to.deep.equal([['b'], ['other']]);
    });

    it('is matched by a WHERE without WITH and USING, in place of the union (rule 14.17)', async () => {
      await update(s, insertion('a'));
      const change = 'DELETE { ?s ?p ?o } INSERT { ?s ?p ?new }';
      const where = 'WHERE { ?s ?p ?o BIND(CONCAT(?o, "2") AS ?new) }';
      expect(await after(`${change} ${where}`)).to.deep.equal([['a2'], ['other']]);
      expect(await after(`INSERT { ?s ?p ?o } WHERE { GRAPH <${other}> { ?s ?p ?o } }`)).to.deep.equal([
        ['a2', 'other'],
        ['other'],
      ]);
      expect(await after('DELETE WHERE { ?s ?p "other" }')).to.deep.equal([['a2'], ['other']]);
      expect(await after(`WITH <${other}> ${change} ${where}`)).to.deep.equal([['a2'], ['other2']]);
      expect(await after(`INSERT { ?s ?p ?o } USING <${other}> WHERE { ?s ?p ?o }`)).to.deep.equal([
        ['a2', 'other2'],
        ['other2'],
      ]);
      const form = new URLSearchParams({
        update: 'DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }',
        'using-graph-uri': other,
      });
      expect((await s.post(endpointOf(s), formType, form.toString())).status).to.equal(200);
      expect([await values(), await values(other)]).to.deep.equal([['a2'], ['other2']]);
    });

    it('is DEFAULT of graph management, and is never deleted by it (rule 14.17)', async () => {
      for (const absent of ['CLEAR DEFAULT', 'DROP DEFAULT'])
        expect(await after(absent)).to.deep.equal([[], ['other']]);
      expect(await after(`COPY <${other}> TO DEFAULT`)).to.deep.equal([['other'], ['other']]);
      expect(await after(`${insertion('a')} ; ADD DEFAULT TO <${other}>`)).to.deep.equal([
        ['a', 'other'],
        ['a', 'other'],
      ]);
      await setAcl(s, iri(), rule('Read', agent(alice)));
      for (const emptied of ['DROP DEFAULT', 'CLEAR SILENT DEFAULT', `MOVE DEFAULT TO <${other}>`]) {
        await update(s, insertion('b'));
        expect((await after(emptied))[0], emptied).to.deep.equal([]);
        expect((await s.send('GET', iri(), {}, undefined, as(s, alice))).status, emptied).to.equal(200);
      }
      expect(await values(other)).to.deep.equal(['b']);
      expect(await after('MOVE DEFAULT TO DEFAULT')).to.deep.equal([[], ['b']]);
      expect(await after(`LOAD <${other}>`)).to.deep.equal([['b'], ['b']]);
      expect(await after(`MOVE <${other}> TO DEFAULT`)).to.deep.equal([['b'], []]);
      for (const all of ['CLEAR ALL', 'DROP NAMED', 'CLEAR SILENT NAMED']) {
        const answer = await postUpdate(s, all);
        expectProblem(answer, 400);
        expect(answer.text).to.contain('ALL and NAMED are not supported').and.not.to.contain('default graph');
      }
    });

    it('is ?default of the graph store (rule 14.17)', async () => {
      const send = (method: string, body?: string, fields = {}): Promise<Answer> =>
        s.send(method, store(), { ...(body === undefined ? {} : turtle), ...fields }, body);
      expect((await send('GET')).status).to.equal(404);
      const put = await send('PUT', `${text('a')} .`);
      expect([put.status, put.headers['content-location']]).to.deep.equal([201, iri()]);
      expectProblem(await send('PUT', '', {}), 428);
      expect((await send('POST', `${text('b')} .`)).status).to.equal(204);
      expect(await values()).to.deep.equal(['a', 'b']);
      const got = await send('GET');
      expect([got.text.includes('"b"'), got.headers['etag']]).to.deep.equal([
        true,
        (await s.get(iri())).headers['etag'],
      ]);
      expect((await send('DELETE')).status).to.equal(204);
      await s.expectAbsent(iri());
      expectProblem(await s.get(`${store()}&graph=${encodeURIComponent(other)}`), 400);
    });

    it('is authorized as the resource (rule 14.17)', async () => {
      const sender: Sender = as(s, alice);
      const graph = (value: string): string => `INSERT DATA { GRAPH <${iri()}> { ${text(value)} } }`;
      /** Responses to an update, a POST and a GET, without their volatile parts. */
      const told = async (sent: string, target: string): Promise<string[]> => {
        const answers = [
          await postUpdate(s, sent, sender),
          await s.send('POST', target, turtle, `${text('y')} .`, sender),
          await s.send('GET', target, {}, undefined, sender),
        ];
        return answers.map(({ status, text: told }) => `${status} ${told.replace(/urn:uuid:\S+|"etag":"\S+"/g, '')}`);
      };
      const seen = new Set<string>();
      for (const exists of [false, true])
        for (const modes of ['', 'Read', 'Append', 'Write', 'Read Write']) {
          await setAcl(s, `${s.root}notes/`, ...(modes === '' ? [] : [rule(modes, agent(alice))]));
          const both: string[][] = [];
          for (const [sent, target] of [
            [insertion('x'), store()],
            [graph('x'), `${s.root}.lws/graphs?graph=${encodeURIComponent(iri())}`],
          ] as const) {
            await s.delete(iri());
            if (exists) await update(s, graph('a'));
            both.push(await told(sent, target));
          }
          expect(both[0], `${modes} ${exists}`).to.deep.equal(both[1]);
          for (const each of both[0]!) seen.add(each.slice(0, 3));
        }
      expect([...seen]).to.include.members(['200', '403', '404']);
      const headers = { 'Content-Type': 'application/sparql-update' };
      expect((await request(endpointOf(s), { method: 'POST', headers, body: insertion('x') })).status).to.equal(401);
    });
  },
  inWac(settings),
);

describe('lws.sparql.endpoint.default-graph', () => {
  for (const name of ['notes/', '.lws/x', 'x.meta', 'https://other.example/x', '../x', 'x#y', 'a//b'])
    it(`${name} stops the start (rule 14.17)`, async () => {
      const settings = { 'sparql.endpoint.default-graph': name };
      const error = await startSpecServer({ settings, path: '/s' }).then(
        (server) => server.stop(),
        (thrown: unknown) => thrown,
      );
      expect(String(error)).to.include('lws.sparql.endpoint.default-graph');
    });
});
