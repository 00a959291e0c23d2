/** The query source compiles the operation that either engine passes to it, not the original query. */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { emptyGraphs } from '../../../lib/query/access/empty-graphs.js';
import { quadSource } from '../../../lib/query/answers.js';
import { matchesOf } from '../../../lib/query/dataset.js';
import { contextOf, loadQueryEngine, loadStockEngine, type QueryEngine } from '../../../lib/query/query-engine.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { datasetOf, graphNames, queryWithAlgebra, type SpecLevel, specLevel, withoutIndex } from './engine-dataset.js';

const queries = [
  'SELECT * { ?s ?p ?o FILTER(?o > 0) }',
  'SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY ?p',
  'SELECT * { ?s <http://e/p> ?o OPTIONAL { ?s <http://e/q> ?x } } ORDER BY ?o LIMIT 2',
  'CONSTRUCT { ?o <http://e/back> ?s } { ?s <http://e/q> ?o }',
  'DESCRIBE <http://e/s1>',
  'DESCRIBE ?s { ?s <http://e/p> ?o } LIMIT 2',
  'DESCRIBE <http://e/s2> ?s { ?s <http://e/q> <http://e/s0> . ?s <http://e/p> ?o }',
];

/** Comunica labels blank nodes by their source. */
const termText = ({ termType, value }: Term): string => `${termType} ${value.replace(/^bc_0_/, '')}`;

function textOf(item: Quad | Iterable<[Term, Term]>): string {
  const terms = 'subject' in item ? [item.subject, item.predicate, item.object] : [...item].flat();
  return terms.map(termText).join(', ');
}

describe('Query source', function () {
  this.timeout(30_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
    const factory = new DataFactory();
    const namedNode = (iri: string) => factory.namedNode(iri);
    const blankNode = (label: string) => factory.blankNode(label);
    const [p, q] = [namedNode('http://e/p'), namedNode('http://e/q')];
    const subject = (k: number) => namedNode(`http://e/s${k}`);
    const quads = [0, 1, 2].flatMap((k) => [
      {
        subject: subject(k),
        predicate: p,
        object: factory.literal(String(k), namedNode('http://www.w3.org/2001/XMLSchema#integer')),
      },
      { subject: subject(k), predicate: q, object: subject((k + 1) % 3) },
    ]);
    const node = { subject: subject(1), predicate: q, object: blankNode('n') };
    await store.fill(
      new Map([
        [graphNames[0]!, [...quads, node, { subject: blankNode('n'), predicate: p, object: factory.literal('in') }]],
      ]),
    );
  });
  after(() => store.close());

  async function answerOf(engine: QueryEngine, text: string): Promise<string[]> {
    const snapshot = store.level.snapshot();
    const memory = await withoutIndex(store.level, snapshot);
    const dataset = { ...datasetOf(store.level, snapshot, { readable: new Set(graphNames) }), memory };
    const { algebra, form, base: iri } = await queryWithAlgebra(text);
    const source = quadSource({
      ...{ base: iri, matches: () => matchesOf(dataset, () => {}), emptyGraphs: emptyGraphs(dataset, () => {}) },
    });
    try {
      const context = contextOf(source, iri);
      const stream = form === 'select' ? engine.queryBindings(algebra, context) : engine.queryQuads(algebra, context);
      const items = (await (await stream).toArray()) as (Quad | Iterable<[Term, Term]>)[];
      return items.map(textOf).sort();
    } finally {
      await source.close();
      await snapshot.close();
    }
  }

  for (const text of queries)
    it(`returns the same results in the stock engine and in the composition of a few actors: ${text}`, async () => {
      const own = await answerOf(await loadQueryEngine(), text);
      expect(own).to.have.length.above(1);
      expect(own).to.deep.equal(await answerOf(await loadStockEngine(), text));
    });

  for (const load of [loadQueryEngine, loadStockEngine]) {
    it(`does not treat an IRI as a blank node (${load.name})`, async () => {
      const [skolem, asked] = ['<urn:comunica_skolem:source_0:n>', '?s <http://e/q> <http://e/s2>'];
      const engine = await load();
      expect(await answerOf(engine, `SELECT * { ${skolem} ?p ?o }`)).to.deep.equal([]);
      expect(
        await answerOf(engine, `SELECT * { { ${asked} } UNION { ?s ?p <urn:comunica_skolem:source_7:n> } }`),
      ).to.have.length(1);
    });

    it(`rejects an operation that it cannot compile, and passes no part of it to operators without limits (${load.name})`, async () => {
      const deep = `${'<<( <http://e/s> <http://e/p> '.repeat(17)}<http://e/o>${' )>>'.repeat(17)}`;
      for (const text of [`SELECT * { ?s ?p ?o BIND(${deep} AS ?t) }`, `SELECT * { ?s ?p ?o VALUES ?o { ${deep} } }`]) {
        const error: unknown = await answerOf(await load(), text).catch((thrown: unknown) => thrown);
        expect(error, text).to.be.instanceOf(LwsError);
        expect((error as LwsError).code).to.be.oneOf(['too-complex', 'query-limit']);
      }
    });
  }

  it('describes blank nodes with the triples that lead to them', async () => {
    const found = await answerOf(await loadQueryEngine(), 'DESCRIBE <http://e/s1>');
    expect(found.filter((triple) => triple.endsWith('Literal in'))).to.have.length(1);
    expect(found).to.have.length(4);
  });
});
