/** SPARQL 1.1, 18: filters on possibly unbound variables, the same in the HTTP thread and in worker threads (rule 14.1). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { endpointOf, holds, rowsBothWays } from '../support/sparql.js';

const e = 'https://e.example/pipeline/';

describeStorage('SPARQL in both engines', (s) => {
  const g = ['', ''];
  before(async () => {
    const prefix = `PREFIX : <${e}>\n`;
    const texts = [':a :k :b, :c ; :n 1 ; :p :b . :b :p :c .', ':b :k :d . :c :p :d . :d :n 2 .'];
    for (const [at, text] of texts.entries()) g[at] = (await s.stored('text/turtle', prefix + text)).iri;
  });

  const short = (row: string): string => row.replaceAll(e, ':').replaceAll(g[0]!, 'g0').replaceAll(g[1]!, 'g1');
  const answer = async (query: string): Promise<string[]> =>
    (await rowsBothWays(s, `PREFIX : <${e}> ${query.replaceAll('<g0>', `<${g[0]}>`)}`)).map(short);

  const cases: readonly (readonly [title: string, query: string, rows: readonly string[]])[] = [
    [
      'drops the rows of a UNION branch that leaves the variable unbound',
      'SELECT ?a ?b ?v { { ?a :k ?b } UNION { ?a :n ?v } FILTER(?b = :b) }',
      [':a :b -'],
    ],
    [
      'counts the rows of such a UNION',
      'SELECT (COUNT(*) AS ?c) { { ?a :k ?b } UNION { ?a :n ?v } FILTER(?b = :b) }',
      ['1'],
    ],
    [
      'drops all rows for a variable that occurs nowhere',
      'SELECT ?a { ?a :k ?b . ?a :n ?v FILTER(?mistyped = :b) }',
      [],
    ],
    [
      'keeps a row of VALUES whose UNDEF a pattern binds',
      'SELECT ?a ?b ?x { VALUES (?a ?x) { (UNDEF 1) } ?a :k ?b FILTER(?a = :b) }',
      [':b :d 1'],
    ],
    ['walks a path in its graph alone', 'SELECT ?b { GRAPH <g0> { ?a :p+ ?b } FILTER(?a = :a) }', [':b', ':c']],
    ['walks a path in each graph', 'SELECT ?g ?b { GRAPH ?g { ?a :p+ ?b } FILTER(?a = :c) }', ['g1 :d']],
    ['begins a path between variables at nodes of the graph', 'SELECT ?a ?b { ?a :p* ?b FILTER(?a = :nowhere) }', []],
    ['tests the optional part', 'SELECT ?a ?v { ?a :k ?b OPTIONAL { ?a :n ?v } FILTER(?v = 1) }', [':a 1', ':a 1']],
    ['tests what a subquery projects', 'SELECT ?a { { SELECT ?a { ?a :k ?b } } FILTER(?b = :b) }', []],
    ['tests after MINUS', 'SELECT ?a ?b { ?a :k ?b MINUS { ?a :n ?v FILTER(?b = :b) } }', [':a :b', ':a :c', ':b :d']],
  ];
  for (const [title, query, expected] of cases)
    it(`FILTER ${title} (rule 14.1; SPARQL 1.1, 18.6)`, async () => {
      expect(await answer(query)).to.deep.equal(expected);
    });

  it('ASK has the same result in both engines (rule 14.1)', async () => {
    const query = `PREFIX : <${e}> ASK { { ?a :k ?b } UNION { ?a :n ?v } FILTER(?b = :a) }`;
    expect(await holds(s, query)).to.equal(false);
    expect(await holds(s, query, undefined, `${endpointOf(s)}?timeout=20`)).to.equal(false);
  });
});
