/** Query engine in cases where engines differ: results follow the Recommendation, from LevelDB and from memory. */
import { expect } from 'chai';
import { Parser } from 'n3';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { LwsError } from '../../../lib/tools/errors.js';
import {
  type Answer,
  base,
  engineAnswer,
  graphNames,
  type SpecLevel,
  type SpecTriple,
  specLevel,
} from './engine-dataset.js';
import { halfInMemory } from './engine-memory.js';
import { assignedTwice, cases } from './recommendation-cases.js';

const prologue = `PREFIX : <${base}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>`;
const readable = new Set(graphNames);

/** Variables of a SELECT, in order. */
const columnsOf = (query: string): string[] => {
  const head = query.slice(query.indexOf('SELECT') + 6, query.search(/ \{ | \{\}/));
  const named = [...head.matchAll(/AS \?(\w+)\)/g)];
  return (named.length > 0 ? named : [...head.matchAll(/\?(\w+)/g)]).map(([, name]) => name!);
};

function write(answer: Answer, query: string): string[] {
  if ('truth' in answer) return [String(answer.truth)];
  const names = query.startsWith('CONSTRUCT') ? ['subject', 'predicate', 'object'] : columnsOf(query);
  return answer.rows.map((row) => names.map((name) => row.get(name)?.value.replace(base, '') ?? '-').join(' ')).sort();
}

describe('Query engine against the Recommendation', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  for (const { section, data, query, rows } of cases)
    it(`SPARQL 1.1 ${section}: ${query.slice(0, 160)}`, async () => {
      const parse = (turtle: string): SpecTriple[] =>
        new Parser().parse(`${prologue.replace(/PREFIX (\S+) (\S+)/g, '@prefix $1 $2 .')} ${turtle}`) as never;
      await store.fill(new Map(data.map((turtle, at) => [graphNames[at]!, parse(turtle)])));
      for (const toMemory of [undefined, halfInMemory]) {
        const read = await parseQuery(`${prologue} ${query}`, base);
        const answer = await engineAnswer(store.level, { readable, ...read.from }, read, toMemory);
        expect(write(answer, query)).to.deep.equal([...rows]);
      }
    });

  for (const query of assignedTwice)
    it(`SPARQL 1.1 19.8: rejects a second assignment of a variable: ${query}`, async () => {
      const error = await engineAnswer(store.level, { readable }, `${prologue} ${query}`).then(
        () => undefined,
        ({ code }) => code,
      );
      expect(error).to.equal('malformed-query');
    });

  it('SPARQL 1.1 18.2.4.1: orders the columns of SELECT * as in the text', async () => {
    const columns = async (query: string): Promise<string> => (await parseQuery(query, base)).variables.join(' ');
    expect(await columns('SELECT * { ?z ?b "?q" OPTIONAL { ?a <http://a.example/?e> ?z } # ?f\n ?c $d 1 }')).to.equal(
      'z b a c d',
    );
    expect(await columns('SELECT * { { SELECT * { ?z ?y ?x } } ?a ?z ?b } ORDER BY ?b')).to.equal('z y x a b');
    expect(await columns('SELECT ?b ?a { ?a ?b 1 }')).to.equal('b a');
  });

  for (const [expression, value] of [
    ['<http://a.example/f>(1)', undefined],
    ['COALESCE(<http://a.example/f>(?y), 0)', '0'],
    ['IF(<http://a.example/f>(), 1, 2)', undefined],
    ['<http://a.example/f>(1, 2) || true', 'true'],
    ['BOUND(?y) && <http://a.example/f>(?y)', 'false'],
  ] as const)
    it(`treats a call of an unknown function as an error: ${expression} (SPARQL 1.1, 17.6)`, async () => {
      const answer = await engineAnswer(store.level, { readable }, `${prologue} SELECT (${expression} AS ?x) {}`);
      expect('rows' in answer && answer.rows.map((row) => row.get('x')?.value)).to.deep.equal([value]);
    });

  it('rejects a cast with two arguments (SPARQL 1.1, 17.1)', async () => {
    const answer = engineAnswer(store.level, { readable }, `${prologue} SELECT (xsd:integer(1, 2) AS ?x) {}`);
    const refusal = await answer.then(
      () => undefined,
      (error: unknown) => error as LwsError,
    );
    expect(refusal).to.be.instanceOf(LwsError);
    expect(refusal?.code).to.equal('bad-request');
    expect(refusal?.message).to.match(/^The function <[^>]*#integer> requires one argument, but has 2\.$/);
  });
});
