/** Queries and updates with thousands of patterns, for which planning is quadratic, are rejected before it. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { ed25519Identity } from '../support/identity.js';
import { postUpdate } from '../support/sparql-update.js';

const owner = ed25519Identity();
const times = (count: number, part: (at: number) => string, joint = ' '): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(joint);

describeStorage(
  'Queries of thousands of patterns',
  (s) => {
    const ask = (query: string, parameters = '') =>
      s.send('POST', `${s.root}.lws/sparql?${parameters}`, { 'Content-Type': 'application/sparql-query' }, query);
    const tooMany = {
      'a path of 6 000 steps': `SELECT * { ?s ${times(6000, () => '<p:>', '/')} ?o }`,
      'an alternative of 6 000 predicates': `SELECT * { ?s ${times(6000, () => '<p:>', '|')} ?o }`,
      'walks of 3 000 steps': `SELECT * { ?s (${times(3000, () => '<p:>', '/')})+ ?o }`,
      '3 000 patterns': `SELECT * { ${times(3000, (at) => `?a${at} <p:> ?b.`)} }`,
      'patterns within EXISTS': `SELECT * { ?s ?p ?o FILTER EXISTS { ${times(3000, (at) => `?s <p:> ?b${at}.`)} } }`,
    };
    for (const [what, query] of Object.entries(tooMany))
      for (const parameters of ['', 'timeout=20', 'explain=plan'])
        it(`${what} are 422 too-complex ${parameters} (rules 14.5, 14.16)`, async () => {
          const answer = await ask(query, parameters);
          expectProblem(answer, 422, s);
          expect(JSON.parse(answer.text).detail).to.include('limit of 2000 triple patterns');
        });

    it('evaluates a path of 500 steps', async () => {
      expect((await ask(`ASK { <a:> ${times(500, () => '<p:>', '/')} ?o }`)).text).to.include('false');
    });

    it('reports an expression that is nested too deeply without an internal message (rule 14.5)', async () => {
      const answer = await ask(`SELECT (${times(20_000, () => '1', '+')} AS ?sum) {}`);
      expectProblem(answer, 400, s);
      expect(JSON.parse(answer.text).detail).to.include('nested too deeply').and.not.include('call stack');
    });

    for (const [type, body] of [
      [
        'application/sparql-update',
        `DELETE { ?s ?p ?o } WHERE { ?s ?p ?o. ${times(3000, (at) => `?s <#p> ?b${at}.`)} }`,
      ],
      [
        'text/n3',
        `@prefix solid: <http://www.w3.org/ns/solid/terms#>. _:p a solid:InsertDeletePatch; ` +
          `solid:where { ${times(3000, (at) => `?s <#p> ?b${at}.`)} }; solid:deletes { ?s <#p> ?b1. }.`,
      ],
    ] as const)
      it(`a PATCH of ${type} with 3 000 patterns is 422 and changes nothing (rules 14.16, 20.5)`, async () => {
        const { iri, etag } = await s.stored('text/turtle', '<#s> <#p> 1, 2 .');
        expectProblem(await s.patch(iri, type, body), 422, s);
        expect(await s.tag(iri)).to.equal(etag);
      });

    it('an update at the endpoint with 3 000 patterns is 422 and changes nothing (rule 14.11)', async () => {
      const { iri, etag } = await s.stored('text/turtle', '<#s> <#p> 1, 2 .');
      const where = times(3000, (at) => `?s <#p> ?b${at}.`);
      expectProblem(await postUpdate(s, `WITH <${iri}> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o. ${where} }`), 422, s);
      expect(await s.tag(iri)).to.equal(etag);
    });
  },
  { settings: { owners: owner.did, profile: 'solid', 'sparql.endpoint.update': 'true' }, owner, isOncePlaced: true },
);
