/** SPARQL 1.1, 18.6: the group of `GRAPH ?g` is evaluated in each graph, also around subqueries and MINUS (rules 14.2, 14.14). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { ask, rowsBothWays } from '../support/sparql.js';
import { postUpdate, updatedBy, updates, valuesOf } from '../support/sparql-update.js';
import { agent, alice, as, inWac, rule, setAcl } from '../support/wac.js';

const e = 'https://e.example/graph-variable/';
const prefix = `PREFIX : <${e}>\n`;

/** `g2` has no triples. */
const texts = (names: readonly string[]): readonly string[] => [
  ':a :p :o ; :n 1, 2 . :b :p :o .',
  `:a :p :o2 ; :n 3 . <${names[1]}> :about :a . :a :in <${names[0]}>, <${names[1]}> .`,
  '',
];

describeStorage(
  'GRAPH with a variable',
  (s) => {
    const g: string[] = [];
    let dataset = '';
    before(async () => {
      for (const at of [0, 1, 2]) g[at] = s.fresh(`g${at}`);
      for (const [at, text] of texts(g).entries()) await s.stored('text/turtle', prefix + text, g[at]);
      await setAcl(s, g[0]!, rule('Read', agent(alice)));
      await setAcl(s, g[2]!, rule('Read', agent(alice)));
      dataset = g.map((iri) => `FROM NAMED <${iri}>`).join(' ');
    });

    const rowsOf = async (query: string, sender?: ReturnType<typeof as>): Promise<string[]> => {
      const named = query.replace(/<(g\d)>/g, (_all, name) => `<${g[Number(name.slice(1))]}>`);
      const found = await rowsBothWays(s, prefix + named.replace('{', `${dataset} {`), sender);
      const short = (row: string): string =>
        g.reduce((text, iri, at) => text.replaceAll(iri, `g${at}`), row.replaceAll(e, ':'));
      return found.map(short).sort();
    };

    const cases: readonly (readonly [title: string, query: string, rows: readonly string[]])[] = [
      [
        'counts the triples of each graph, also of one without triples',
        'SELECT ?g ?c { GRAPH ?g { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } }',
        ['g0 4', 'g1 5', 'g2 0'],
      ],
      [
        'counts the matches of a pattern in each graph (W3C agg-empty-group-count-graph)',
        'SELECT ?g ?c { GRAPH ?g { SELECT (COUNT(*) AS ?c) { ?s :p ?x FILTER(?x != :o) } } }',
        ['g0 0', 'g1 1', 'g2 0'],
      ],
      [
        'has a group for each key and graph',
        'SELECT ?g ?s ?c { GRAPH ?g { SELECT ?s (COUNT(*) AS ?c) { ?s ?p ?o } GROUP BY ?s } }',
        ['g0 :a 3', 'g0 :b 1', 'g1 :a 4', 'g1 g1 1'],
      ],
      [
        'adds numbers in each graph, and has their groups counted again',
        'SELECT (SUM(?n) AS ?all) (COUNT(?g) AS ?graphs) { GRAPH ?g { SELECT (SUM(?v) AS ?n) { ?s :n ?v } } }',
        ['6 3'],
      ],
      [
        'binds the graph name outside of a subquery that does not project it',
        'SELECT ?g ?s { GRAPH ?g { SELECT ?s { ?s :p ?o } } }',
        ['g0 :a', 'g0 :b', 'g1 :a'],
      ],
      [
        'treats an unprojected variable of the same name in a subquery as another one',
        'SELECT ?g ?c { GRAPH ?g { SELECT (COUNT(?g) AS ?c) { :a :in ?g } } }',
        ['g0 0', 'g1 2', 'g2 0'],
      ],
      [
        'keeps solutions with and without the name of the graph apart where duplicates are removed',
        'SELECT * { GRAPH ?g { SELECT DISTINCT ?g ?x { { ?x :in ?g } UNION { ?x :in ?y } } } }',
        ['g1 :a', 'g1 :a'],
      ],
      [
        'has a group with and one without the name of the graph',
        'SELECT ?g ?c { GRAPH ?g { SELECT ?g (COUNT(*) AS ?c) { { ?x :in ?g } UNION { ?x :in ?y } } GROUP BY ?g } }',
        ['g1 1', 'g1 2'],
      ],
      [
        'removes duplicates in each graph',
        'SELECT ?g ?p { GRAPH ?g { SELECT DISTINCT ?p { :a ?p ?o } } }',
        ['g0 :n', 'g0 :p', 'g1 :in', 'g1 :n', 'g1 :p'],
      ],
      [
        'cuts the ordered solutions of a subquery in each graph',
        'SELECT ?g ?v { GRAPH ?g { SELECT ?v { ?s :n ?v } ORDER BY DESC(?v) LIMIT 1 } }',
        ['g0 2', 'g1 3'],
      ],
      [
        'skips solutions in each graph',
        'SELECT ?g ?v { GRAPH ?g { SELECT ?v { ?s :n ?v } ORDER BY ?v OFFSET 1 } }',
        ['g0 2'],
      ],
      [
        'keeps the solutions of MINUS that share the name of the graph alone (W3C graph-minus)',
        'SELECT ?g ?a { GRAPH ?g { ?a :p :o MINUS { ?b :p :o } } }',
        ['g0 :a', 'g0 :b'],
      ],
      [
        'removes the solutions of MINUS from the same graph',
        'SELECT ?g ?a { GRAPH ?g { ?a :p ?o MINUS { ?a :n 3 } } }',
        ['g0 :a', 'g0 :b'],
      ],
      [
        'shares the name of the graph in MINUS where both sides use it in a triple',
        'SELECT ?g ?s { GRAPH ?g { ?g :about ?s MINUS { ?g :about ?x } } }',
        [],
      ],
      [
        'joins the name of the graph after OPTIONAL (W3C graph-optional)',
        'SELECT ?g ?s { GRAPH ?g { ?s :p ?o OPTIONAL { ?s :in ?g } } }',
        ['g0 :a', 'g0 :b', 'g1 :a'],
      ],
      [
        'has the solutions of VALUES in each graph',
        'SELECT ?g ?x { GRAPH ?g { VALUES ?x { 1 2 } } }',
        ['g0 1', 'g0 2', 'g1 1', 'g1 2', 'g2 1', 'g2 2'],
      ],
      [
        'joins VALUES of graphs',
        'SELECT ?g ?c { GRAPH ?g { VALUES ?g { <g2> <g1> <urn:none> } { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } } }',
        ['g1 5', 'g2 0'],
      ],
      [
        'asks NOT EXISTS of a subquery in each graph',
        'SELECT ?g ?a { GRAPH ?g { ?a :p ?o FILTER NOT EXISTS { SELECT (COUNT(*) AS ?c) { ?x :n ?v } HAVING(COUNT(*) = 1) } } }',
        ['g0 :a', 'g0 :b'],
      ],
      [
        'walks a path without a step in each graph',
        'SELECT ?g ?x { GRAPH ?g { SELECT ?x { :b :p* ?x } } }',
        ['g0 :b', 'g0 :o', 'g1 :b', 'g2 :b'],
      ],
      [
        'has one graph in another',
        'SELECT ?g ?h ?c { GRAPH ?g { :a :n 3 GRAPH ?h { SELECT (COUNT(*) AS ?c) { ?s :p ?o } } } }',
        ['g1 g0 2', 'g1 g1 1', 'g1 g2 0'],
      ],
      [
        'shows the name of the graph to FILTER and BIND (rule 14.14)',
        'SELECT ?g ?name { GRAPH ?g { ?s :n ?v FILTER(?g = <g1>) BIND(STRLEN(STR(?g)) > 0 AS ?name) } }',
        ['g1 true'],
      ],
      [
        'counts in a graph that is named, also in one without triples',
        'SELECT ?c { { GRAPH <g2> { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } } UNION { GRAPH <urn:none> { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } } }',
        ['0'],
      ],
      [
        'has no variable in SELECT * that a subquery groups by or has VALUES of and does not project (18.2.1)',
        'SELECT * { GRAPH ?g { { SELECT ?s { ?s :n ?v } GROUP BY ?s (?v > 2 AS ?k) VALUES ?z { 1 } } } }',
        ['g0 :a', 'g1 :a'],
      ],
    ];
    for (const [title, query, expected] of cases)
      it(`${title} (rule 14.2)`, async () => {
        expect(await rowsOf(query)).to.deep.equal(expected);
      });

    it('counts only in readable graphs (rules 2.1, 14.2)', async () => {
      const alices = as(s, alice);
      const count = 'SELECT ?g ?c { GRAPH ?g { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } }';
      expect(await rowsOf(count, alices)).to.deep.equal(['g0 4', 'g2 0']);
      const named = (iri: string): string => `SELECT ?c { GRAPH <${iri}> { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } }`;
      expect(await rowsOf(named(g[1]!), alices)).to.deep.equal([]);
      expect(await rowsOf(named(g[2]!), alices)).to.deep.equal(['0']);
    });

    it('is 400 for a subquery that assigns a variable twice', async () => {
      const query = 'SELECT * { GRAPH ?g { { SELECT ?s { ?s ?p ?o } } BIND(1 AS ?s) } }';
      expectProblem(await ask(s, query), 400, s);
    });

    it('SPARQL Update: changes by subqueries, aggregates and MINUS in each graph (rule 14.11)', async () => {
      const [one, two, out] = [s.fresh('one'), s.fresh('two'), s.fresh('out')];
      await s.stored('text/turtle', `${prefix} :a :v "1", "2" . :b :w :a .`, one);
      await s.stored('text/turtle', `${prefix} :a :v "3" .`, two);
      const using = `USING NAMED <${one}> USING NAMED <${two}>`;
      const count = `INSERT { GRAPH <${out}> { ?g :c ?c } } ${using} WHERE { GRAPH ?g { SELECT (COUNT(*) AS ?c) { ?s :v ?o } } }`;
      updatedBy(await postUpdate(s, prefix + count));
      expect(await valuesOf(s, out)).to.deep.equal(['1', '2']);
      const minus = `DELETE { GRAPH ?g { ?s :v ?o } } ${using} WHERE { GRAPH ?g { ?s :v ?o MINUS { ?x :w ?y } } }`;
      updatedBy(await postUpdate(s, prefix + minus));
      expect([await valuesOf(s, one), await valuesOf(s, two)]).to.deep.equal([[`${e}a`], []]);
    });

    it('SPARQL Update: WITH is the default graph of subqueries and MINUS (SPARQL 1.1 Update, 3.1.3)', async () => {
      const [one, two] = [s.fresh('one'), s.fresh('two')];
      await s.stored('text/turtle', `${prefix} :a :v "1", "2" .`, one);
      const count = 'INSERT { :n :c ?c } WHERE { { SELECT (COUNT(*) AS ?c) { ?s :v ?o } } MINUS { ?s :none ?c } }';
      updatedBy(await postUpdate(s, `${prefix} WITH <${one}> ${count} ; WITH <${two}> ${count}`));
      expect(await valuesOf(s, one)).to.deep.equal(['1', '2', '2']);
      expect(await valuesOf(s, two)).to.deep.equal(['0']);
    });
  },
  inWac(updates),
);
