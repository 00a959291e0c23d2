/** Rule 14.8: QUERY on a resource. The root covers the storage, a container its subtree, a data resource its graph. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem, listOf } from '../support/expectations.js';
import { metaOf, putLinks } from '../support/linkset.js';
import { ask, encoded, rows, sparqlQuery } from '../support/sparql.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const e = 'https://e.example/resource/';
const graphs = `SELECT DISTINCT ?g { GRAPH ?g { ?s <${e}p> ?o } }`;

describeStorage(
  'SPARQL on a resource',
  (s) => {
    let [box, a, b, beside] = ['', '', '', ''];
    before(async () => {
      box = await s.container();
      await s.container(`${box}d/`);
      a = (await s.stored('text/turtle', `<${e}s> <${e}p> 1 .`, `${box}a`)).iri;
      b = (await s.stored('text/turtle', `<${e}s> <${e}p> 1, 2 .`, `${box}d/b`)).iri;
      beside = (await s.stored('text/turtle', `<${e}s> <${e}p> 3 .`, `${box.slice(0, -1)}0`)).iri;
      for (const iri of [a, beside])
        expect((await putLinks(s, iri, { [`${e}p`]: [{ href: e }] })).status).to.equal(204);
      await setAcl(s, box, rule('Read', agent(alice)));
      await setAcl(s, b);
    });

    it('the root covers the whole storage, a container its subtree, a data resource its graph (rule 14.8)', async () => {
      for (const [target, expected] of [
        [s.root, [a, metaOf(a), b, beside, metaOf(beside)].sort()],
        [box, [a, metaOf(a), b]],
        [`${box}d/`, [b]],
        [a, [a, metaOf(a)]],
        [b, [b]],
      ] as const)
        expect(await rows(s, graphs, undefined, target), target).to.deep.equal(expected);
      expect(await rows(s, `SELECT ?o FROM <${b}> { ?s ?p ?o }`, undefined, a)).to.deep.equal([]);
    });

    it('selects graphs of the queried part by the parameters of the endpoint (rules 14.4, 14.8)', async () => {
      const values = `SELECT DISTINCT ?o { ?s <${e}p> ?o FILTER(isLiteral(?o)) }`;
      const named = `SELECT ?o { GRAPH ?g { ?s <${e}p> ?o } FILTER(isLiteral(?o)) }`;
      const on = (target: string, ...parameters: (readonly [string, string])[]): string =>
        `${target}?${encoded(parameters)}`;
      const [byDefault, byName] = ['default-graph-uri', 'named-graph-uri'];
      for (const [query, target, expected] of [
        [values, s.root, ['1', '2', '3']],
        [values, on(s.root, [byDefault, a]), ['1']],
        [values, on(s.root, [byDefault, a], [byDefault, beside]), ['1', '3']],
        [values, on(box, [byDefault, b]), ['1', '2']],
        [named, on(box, [byDefault, b]), []],
        [named, on(box, [byName, b]), ['1', '2']],
        [values, on(box, [byName, b]), []],
        // Outside of the part, whether named or not.
        [values, on(box, [byDefault, beside]), []],
        [values, on(box, [byDefault, beside], [byDefault, a]), ['1']],
        [values, on(`${box}d/`, [byDefault, a]), []],
        [values, on(a, [byDefault, a]), ['1']],
        [values, on(a, [byDefault, b]), []],
        [values, on(a, [byDefault, metaOf(a)]), []],
        [values, on(a, [byDefault, `${box}absent`]), []],
        // The parameter overrides FROM of the query (SPARQL 1.1 Protocol, 2.1.4).
        [values.replace('{', `FROM <${a}> {`), on(box, [byDefault, b]), ['1', '2']],
      ] as const)
        expect(await rows(s, query, undefined, target), `${query} on ${target}`).to.deep.equal(expected);
      for (const [sender, graph] of [
        [as(s, alice), b],
        [as(s, alice), beside],
        [as(s, alice), `${box}absent`],
      ] as const)
        expect(await rows(s, values, sender, on(box, [byDefault, graph])), graph).to.deep.equal([]);
    });

    it('accepts timeout and explain as the endpoint does (rules 14.1, 14.8)', async () => {
      for (const target of [s.root, box, a]) {
        expect((await ask(s, 'ASK {}', {}, undefined, `${target}?timeout=5`)).status).to.equal(200);
        for (const wrong of ['timeout=-1', 'timeout=x', 'timeout=1&timeout=1', 'explain=all'])
          expectProblem(await ask(s, 'ASK {}', {}, undefined, `${target}?${wrong}`), 400, s);
        const { status, text } = await ask(s, graphs, {}, undefined, `${target}?explain=plan`);
        expect([status, typeof JSON.parse(text)], text).to.deep.equal([200, 'object']);
      }
    });

    it('a client sees the readable part of the subtree (rule 14.8)', async () => {
      expect(await rows(s, graphs, as(s, alice), box)).to.deep.equal([a, metaOf(a)]);
      expect(await rows(s, `SELECT (COUNT(*) AS ?n) { ?s <${e}p> 2 }`, as(s, alice), box)).to.deep.equal(['0']);
    });

    it('an unreadable target fails like a read (rules 4.3, 14.8)', async () => {
      for (const target of [b, beside, `${box}absent`, `${s.scratch}absent`])
        for (const sender of [as(s, alice), s.stranger, 'anonymous'] as const) {
          const read = await s.send('GET', target, {}, undefined, sender);
          const answer = await ask(s, 'ASK {}', {}, sender, target);
          expect(answer.status, target).to.equal(read.status);
          expectProblem(await ask(s, 'ASK', {}, sender, target), read.status);
          expect(answer.headers['www-authenticate']).to.equal(read.headers['www-authenticate']);
        }
    });

    it('OPTIONS lists QUERY and its formats (rule 14.8)', async () => {
      for (const target of [s.root, box, a]) {
        const answer = await s.options(target);
        expect(listOf(answer, 'allow'), target).to.include('query');
        expect(listOf(answer, 'accept-query'), target).to.include(sparqlQuery);
      }
    });

    it('other formats, no format, errors and SERVICE are rejected as at the endpoint (rule 14.9)', async () => {
      for (const target of [s.root, box, a]) {
        expectProblem(await s.send('QUERY', target, {}, 'ASK {}'), 400, s);
        expectProblem(await ask(s, 'ASK {', {}, undefined, target), 400, s);
        expectProblem(await ask(s, 'CLEAR ALL', {}, undefined, target), 400, s);
        expectProblem(await ask(s, 'ASK { SERVICE <https://e.example/> {} }', {}, undefined, target), 422, s);
        const wrong = await ask(s, 'ASK {}', { 'Content-Type': 'application/sparql-update' }, undefined, target);
        expectProblem(wrong, 415, s);
        expect(listOf(wrong, 'accept-query')).to.include(sparqlQuery);
      }
    });

    it('relative IRIs resolve against the target (rule 14.8)', async () => {
      expect(await rows(s, 'SELECT ?x { BIND(<> AS ?x) }', undefined, a)).to.deep.equal([a]);
    });
  },
  inWac(),
);
