/** An EXISTS with a filter on the outer row takes at most the time of comparing all pairs of rows. */
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { base, engineAnswer, graphNames, type SpecLevel, specLevel } from '../lib/query/engine-dataset.js';
import { halfInMemory } from '../lib/query/engine-memory.js';
import { slowness } from '../support/patience.js';

const factory = new DataFactory();
const integer = factory.namedNode('http://www.w3.org/2001/XMLSchema#integer');
const n = factory.namedNode(`${base}n`);

describe('EXISTS that depends on the row', function () {
  this.timeout(60_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    const triples = Array.from({ length: 500 }, (_, at) => ({
      subject: factory.namedNode(`${base}${at}`),
      predicate: n,
      object: factory.literal(String(at), integer),
    }));
    await store.fill(new Map([[graphNames[0]!, triples]]));
  });
  after(() => store.close());

  for (const [name, toMemory] of [['a view without an index'], ['the index', halfInMemory]] as const)
    it(`SPARQL 1.1 8.1: maximum of 500 numbers by NOT EXISTS, from ${name}`, async () => {
      const timeOf = async (query: string): Promise<readonly [ms: number, rows: number]> => {
        const begun = performance.now();
        const read = { readable: new Set(graphNames) };
        const answer = await engineAnswer(store.level, read, `PREFIX : <${base}> ${query}`, toMemory);
        return [performance.now() - begun, 'rows' in answer ? answer.rows.length : 0];
      };
      const [pairs] = await timeOf('SELECT (COUNT(*) AS ?n) { ?a :n ?b . ?c :n ?d FILTER(?d > ?b) }');
      for (const [query, count] of [
        ['SELECT ?a { ?a :n ?b FILTER NOT EXISTS { ?c :n ?d FILTER(?d > ?b) } }', 1],
        ['SELECT ?a { ?a :n ?b FILTER(EXISTS { ?c :n ?d FILTER(?d > ?b) } || false) }', 499],
      ] as const) {
        const [ms, rows] = await timeOf(query);
        expect(rows, query).to.equal(count);
        expect(ms, `${query}: all pairs take ${pairs} ms`).to.be.below(2 * pairs + 500 * slowness);
      }
    });
});
