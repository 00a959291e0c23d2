/** Client-defined names equal to members of JavaScript objects: variables, relations and members keep their values. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { ed25519Identity } from '../support/identity.js';

const owner = ed25519Identity();
const names = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

describeStorage(
  'Names on the object prototype',
  (s) => {
    const select = async (query: string, parameters = ''): Promise<Record<string, { value: string }>[]> => {
      const { status, text } = await s.get(`${s.root}.lws/sparql?query=${encodeURIComponent(query)}${parameters}`, {
        Accept: 'application/sparql-results+json',
      });
      expect(status, text).to.equal(200);
      return JSON.parse(text).results.bindings;
    };

    for (const name of names)
      for (const parameters of ['', '&timeout=20'])
        it(`VALUES, BIND, GROUP BY and subqueries bind ?${name}${parameters && ' in a thread'} (rule 14.1)`, async () => {
          const v = `?${name}`;
          for (const [query, expected] of [
            [`SELECT * { VALUES (${v} ?b) { (1 2) (UNDEF 3) } } ORDER BY ?b`, [['1', '2'], ['3']]],
            [`SELECT ${v} { VALUES ${v} { 1 2 } FILTER(${v} > 1) }`, [['2']]],
            [`SELECT ?b { VALUES ?b { 1 } OPTIONAL { VALUES (?c ${v}) { (2 UNDEF) } } FILTER(!BOUND(${v})) }`, [['1']]],
            [`SELECT ${v} { BIND(7 AS ${v}) }`, [['7']]],
            [`SELECT ${v} (COUNT(*) AS ?n) { VALUES ${v} { 5 5 } } GROUP BY ${v}`, [['5', '2']]],
            [`SELECT * { { SELECT (MAX(?x) AS ${v}) { VALUES ?x { 1 4 } } } VALUES ${v} { 4 UNDEF } }`, [['4'], ['4']]],
          ] as const) {
            const rows = await select(query, parameters);
            const values = rows.map((row) => Object.keys(row).map((key) => row[key]!.value));
            expect(
              values.map((row) => row.sort()),
              query,
            ).to.deep.equal(expected.map((row) => [...row].sort()));
          }
        });

    it('a linkset keeps relations of such names (rule 11.4)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      const relations = names.map((name) => `"${name}": [{"href": "https://a.example/${name}"}]`).join(', ');
      const body = `{"linkset": [{"anchor": "${iri}", ${relations}}]}`;
      expect((await s.put(`${iri}.meta`, 'application/linkset+json', body, { 'If-Match': '*' })).status).to.equal(204);
      const { text } = await s.get(`${iri}.meta`);
      for (const name of names) expect(text).to.include(`"${name}":[{"href":"https://a.example/${name}"}]`);
    });

    it('a notification channel with such members gets a response, and the server continues (rule 16.10)', async () => {
      const notify = 'http://www.w3.org/ns/solid/notifications#';
      for (const name of names) {
        const body = `<> a <${notify}WebSocketChannel2023> ; <${notify}topic> <${s.root}> ; <${notify}${name}> "x" .`;
        const { status, text } = await s.send(
          'POST',
          `${s.root}.lws/notifications/WebSocketChannel2023`,
          { 'Content-Type': 'text/turtle' },
          body,
        );
        expect(status, text).to.be.below(500);
      }
    });

    it('a JSON-LD document with such terms is stored or rejected, never partly parsed (rule 1.6)', async () => {
      for (const name of names) {
        const iri = s.fresh();
        const body = `{"@context": {"${name}": "https://a.example/p"}, "@id": "", "${name}": "kept"}`;
        const { status, text } = await s.put(iri, 'application/ld+json', body);
        expect(status, text).to.be.oneOf([201, 400]);
        if (status === 201) expect((await s.get(iri, { Accept: 'application/n-triples' })).text).to.include('"kept"');
      }
    });
  },
  { settings: { owners: owner.did }, owner, isOncePlaced: true },
);
