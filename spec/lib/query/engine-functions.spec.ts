/** Functions of the query engine: results follow SPARQL 1.1 and XPath, and the engine compiles them itself. */
import type { Term } from '@rdfjs/types';
import { expect } from 'chai';
import { compileQuery } from '../../../lib/query/plan/compile-query.js';
import { aggregateCases, castCases } from './engine-cast-cases.js';
import {
  base,
  engineAnswer,
  graphNames,
  queryWithAlgebra,
  type SpecLevel,
  type SpecView,
  specLevel,
  writeTerm,
} from './engine-dataset.js';
import { textCases } from './engine-function-cases.js';
import { valueCases } from './engine-value-cases.js';

const xsd = 'http://www.w3.org/2001/XMLSchema#';
const view: SpecView = { readable: new Set(graphNames) };

/** In Turtle syntax. */
function shortly(term: Term | undefined): string {
  if (!term) return 'error';
  const text = writeTerm(term);
  const [, value, type] = /^"(.*)"\^\^<(?:http:\/\/www\.w3\.org\/2001\/XMLSchema#)(.*)>$/s.exec(text) ?? [];
  if (type === 'string') return `"${value}"`;
  if (type !== undefined && ['boolean', 'integer', 'decimal', 'double'].includes(type)) return value!;
  return type === undefined ? text : `"${value}"^^xsd:${type}`;
}

describe('Query functions', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    const node = (name: string): Term => ({ termType: 'NamedNode', value: base + name }) as Term;
    const blank = { termType: 'BlankNode', value: 'b' } as Term;
    const triples = [
      { subject: node('s'), predicate: node('p'), object: node('m1') },
      { subject: node('s'), predicate: node('p'), object: node('m2') },
      { subject: node('m1'), predicate: node('q'), object: node('o') },
      { subject: node('m2'), predicate: node('q'), object: node('o') },
      { subject: blank, predicate: node('p'), object: blank },
    ];
    await store.fill(new Map([[graphNames[0]!, triples]]));
  });
  after(() => store.close());

  /** Result of the engine, which must compile the whole query. */
  async function answer(query: string): Promise<readonly ReadonlyMap<string, Term>[]> {
    const { algebra, base: own } = await queryWithAlgebra(query);
    expect(() => compileQuery(algebra as never, own), query).not.to.throw();
    const found = await engineAnswer(store.level, view, query);
    return 'rows' in found ? found.rows : [];
  }
  const prefix = `PREFIX xsd: <${xsd}>`;
  const one = async (query: string): Promise<string> => {
    const rows = await answer(`${prefix} ${query}`);
    expect(rows, query).to.have.length(1);
    return shortly(rows[0]!.get('r'));
  };

  for (const [expression, result] of [...textCases, ...valueCases, ...castCases])
    it(`returns ${result} for ${expression}`, async () => {
      expect(await one(`SELECT (${expression} AS ?r) {}`)).to.equal(result);
    });

  for (const [aggregate, where, result] of aggregateCases)
    it(`returns ${result} for ${aggregate} of ${where}`, async () => {
      expect(await one(`SELECT (${aggregate} AS ?r) { ${where} }`)).to.equal(result);
    });

  it('counts solutions without blank nodes of the query and nodes of its paths', async () => {
    const count = (where: string): Promise<string> => one(`SELECT (COUNT(DISTINCT *) AS ?r) { ${where} }`);
    expect(await count('<s> <p> ?m . ?m <q> ?o')).to.equal('2');
    expect(await count('<s> <p> _:m . _:m <q> ?o')).to.equal('1');
    expect(await count('<s> <p> [ <q> ?o ]')).to.equal('1');
    expect(await count('<s> <p>/<q> ?o')).to.equal('1');
    expect(await count('?s <q> ?o FILTER EXISTS { ?x <p> ?s }')).to.equal('2');
    expect(await one('SELECT ?o (COUNT(DISTINCT *) AS ?r) { ?m <q> ?o } GROUP BY ?o')).to.equal('2');
    expect(await one('SELECT (COUNT(DISTINCT *) AS ?r) (COUNT(*) AS ?all) { ?m <q> ?o }')).to.equal('2');
  });

  it('resolves IRIs against the base of the query', async () => {
    expect(await one('BASE <http://other.org/a/b#c> SELECT (IRI("d") AS ?r) {}'), 'absolute').to.equal(
      '<http://other.org/a/d>',
    );
    expect(await one('BASE <x/> BASE <y/> SELECT (IRI("../z") AS ?r) {}'), 'relative').to.equal(`<${base}x/z>`);
  });

  it('creates one blank node per label and row', async () => {
    const rows = await answer(
      'SELECT (BNODE("l") AS ?a) (BNODE(STR(?l)) AS ?b) (BNODE("m") AS ?c) (BNODE() AS ?d) { VALUES (?l ?n) { ("l" 1) ("l" 2) } }',
    );
    for (const row of rows) expect(row.get('a')!.value).to.equal(row.get('b')!.value);
    const labels = rows.flatMap((row) => ['a', 'c', 'd'].map((name) => row.get(name)!.value));
    expect(new Set(labels).size).to.equal(6);
  });

  it('evaluates NOW() once per query, RAND() and UUID() once per row', async () => {
    const query = 'SELECT (NOW() AS ?t) (RAND() AS ?n) (UUID() AS ?u) { VALUES ?x { 1 2 3 } BIND(NOW() AS ?y) }';
    const rows = await answer(query);
    const different = (name: string): number => new Set(rows.map((row) => row.get(name)!.value)).size;
    expect([different('t'), different('n'), different('u')]).to.deep.equal([1, 3, 3]);
  });

  it('accepts patterns, replacements and flags from rows', async () => {
    const values = Array.from({ length: 600 }, (_, n) => `("${n}" "^${n}$" "${n % 2 ? 'i' : ''}" "<$0>")`).join(' ');
    const rows = await answer(
      `SELECT (REGEX(?t, ?p, ?f) AS ?a) (REPLACE(?t, ?p, ?r, ?f) AS ?b) ?t { VALUES (?t ?p ?f ?r) { ${values} } }`,
    );
    expect(rows).to.have.length(600);
    for (const row of rows) {
      expect(row.get('a')!.value).to.equal('true');
      expect(row.get('b')!.value).to.equal(`<${row.get('t')!.value}>`);
    }
  });

  it('reports a string that is too long', async () => {
    const long = `CONCAT(${Array(60).fill('?x').join()})`;
    const query = `SELECT (${long} AS ?r) { VALUES ?x { "${'x'.repeat(30_000)}" } }`;
    const error = await answer(query).then(
      () => undefined,
      (fault: Error) => fault,
    );
    expect(error?.message).to.match(/more than 1000000 characters/);
    const shorter = `STRLEN(CONCAT(${Array(30).fill('?x').join()}))`;
    expect(await one(query.replace(long, shorter))).to.equal('900000');
  });
});
