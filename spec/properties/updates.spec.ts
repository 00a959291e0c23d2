/** SPARQL Update of one graph, compared with Comunica's stock engine and its own operators over an n3 store. */
import type { Quad, Stream, Term } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory, Store } from 'n3';
import { applied } from '../../lib/storage/keys/graph-changes.js';
import { decodeGraph } from '../../lib/storage/keys/quad-decoding.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { changeOf, dataChangeOf } from '../support/evaluated-update.js';
import { enough, runs } from '../support/speed.js';
import { loadStockEngine } from '../support/stock-engine.js';

const graph = 'http://spec.example/c/r';
const { namedNode, literal, blankNode, quad } = DataFactory;
const subjects = [
  ...['a', 'b', 'c'].map((name) => namedNode(`http://e/${name}`)),
  blankNode('stored1'),
  blankNode('stored2'),
];
const predicates = ['p', 'q', 'r'].map((name) => namedNode(`http://e/${name}`));
const objects = [
  ...subjects,
  literal('1', namedNode('http://www.w3.org/2001/XMLSchema#integer')),
  literal('2', namedNode('http://www.w3.org/2001/XMLSchema#integer')),
  literal('x'),
  literal('x', 'en'),
];
const triple = fc
  .tuple(fc.constantFrom(...subjects), fc.constantFrom(...predicates), fc.constantFrom(...objects))
  .map(([s, p, o]) => quad(s, p, o) as unknown as Quad);
const triples = fc.array(triple, { maxLength: 12 });

const iri = fc.constantFrom('e:a', 'e:b', 'e:c', '<new>', '<#f>');
const verb = fc.constantFrom('e:p', 'e:q', 'e:r', 'a');
const value = fc.oneof(iri, fc.constantFrom('1', '2', '"x"', '"x"@en', '3.5'));
const variable = fc.constantFrom('?s', '?o', '?x');
const data = (blank: readonly string[]) =>
  fc
    .array(fc.tuple(fc.oneof(iri, fc.constantFrom(...blank)), verb, fc.oneof(value, fc.constantFrom(...blank))), {
      maxLength: 3,
    })
    .map((all) => all.map((terms) => `${terms.join(' ')} .`).join(' '));
const ground = data(['e:a']);
const fresh = data(['_:n', '_:m', '[ e:q 1 ]']);
const template = (blank: readonly string[]) =>
  fc
    .array(
      fc.tuple(
        fc.oneof(variable, iri, fc.constantFrom(...blank)),
        fc.oneof(verb, fc.constantFrom('?p', 'e:p')),
        fc.oneof(variable, value, fc.constantFrom(...blank)),
      ),
      { maxLength: 3 },
    )
    .map((all) => all.map((terms) => `${terms.join(' ')} .`).join(' '));
const where = fc.oneof(
  ...[
    '?s ?p ?o',
    '?s e:p ?o',
    '?s e:p ?o . ?o e:q ?x',
    '?s e:p ?o OPTIONAL { ?s e:q ?x }',
    '?s ?p ?o FILTER(isLiteral(?o))',
    '?s ?p ?o FILTER NOT EXISTS { ?s e:q ?z }',
    '?s ?p ?o FILTER(EXISTS { ?o ?q ?z } || isNumeric(?o))',
    '{ ?s e:p ?o } UNION { ?o e:q ?s }',
    '?s e:p ?o MINUS { ?s e:r ?z }',
    '?s e:p ?o BIND(STR(?o) AS ?x)',
    '?s e:p ?o BIND(IRI(CONCAT("made/", STR(?o))) AS ?x)',
    '{ SELECT ?s (COUNT(*) AS ?x) { ?s ?q ?o } GROUP BY ?s }',
    'VALUES (?s ?o) { (e:a 1) (e:b UNDEF) } ?s e:p ?o',
    '?s e:p/e:q ?o',
    '',
  ].map((text) => fc.constant(text)),
);
const operation = fc.oneof(
  fresh.map((text) => `INSERT DATA { ${text} }`),
  ground.map((text) => `DELETE DATA { ${text} }`),
  fc.constantFrom('?s e:p ?o', '?s ?p 1', 'e:a ?p ?o').map((text) => `DELETE WHERE { ${text} }`),
  fc
    .tuple(template(['e:a']), template(['_:n', '_:m', '[]']), where)
    .map(([removed, added, text]) => `DELETE { ${removed} } INSERT { ${added} } WHERE { ${text} }`),
  fc.tuple(template(['_:n']), where).map(([added, text]) => `INSERT { ${added} } WHERE { ${text} }`),
);
const update = fc.array(operation, { minLength: 1, maxLength: 3 }).map((operations) => {
  // A label must not occur in two INSERT DATA (SPARQL 1.1 19.6).
  const own = operations.map((text, at) => text.replaceAll(/_:([nm])/g, `_:$1${at}`));
  return `PREFIX e: <http://e/>\n${own.join(' ;\n')}`;
});

/** Returns true for a valid RDF triple. The oracle also stores others (SPARQL 1.1 Update 3.1.3). */
const isAllowed = ({ subject, predicate }: Quad): boolean =>
  (subject.termType as string) !== 'Literal' && (predicate.termType as string) === 'NamedNode';

/** Records the writes of the stock engine, to be applied after it has read everything. Otherwise it would read its own writes. */
function recorder(store: Store) {
  const [removed, added]: [Quad[], Quad[]] = [[], []];
  const take = (to: Quad[]) => (stream: Stream) => stream.on('data', (each: Quad) => to.push(own(each)));
  return {
    destination: { import: take(added), remove: take(removed) },
    apply(): void {
      for (const each of removed) store.removeQuad(each as never);
      // Applied after each operation, so that invalid triples are not visible to the next one.
      for (const each of added.filter(isAllowed)) store.addQuad(each as never);
    },
  };
}

/** Removes the source number that the stock engine adds to labels. */
const own = ({ subject, predicate, object }: Quad): Quad => {
  const stored = <T extends Term>(term: T): T =>
    term.termType === 'BlankNode' ? (blankNode(term.value.replace(/^bc_\d+_/, '')) as never) : term;
  return quad(stored(subject) as never, predicate as never, stored(object) as never) as unknown as Quad;
};

async function byStockEngine(before: readonly Quad[], text: string): Promise<Quad[]> {
  const store = new Store(before.map(own) as never);
  const engine = await loadStockEngine();
  const [prologue = '', ...rest] = text.split('\n');
  for (const each of rest.join('\n').split(' ;\n')) {
    const { destination, apply } = recorder(store);
    await engine.queryVoid(`${prologue}\n${each}`, { sources: [store], destination, baseIRI: graph } as never);
    apply();
  }
  return store.getQuads(null, null, null, null) as unknown as Quad[];
}

describe('PATCH with SPARQL Update against the stock engine', () => {
  it('produces the graph of the stock engine', async () => {
    let [changed, named] = [0, 0];
    await fc.assert(
      fc.asyncProperty(triples, update, async (before, text) => {
        const lines = encodeGraph(graph, before);
        const { keys } = applied(lines, await changeOf(text, graph, lines));
        const data = await dataChangeOf(text, graph);
        const expected = await byStockEngine(decodeGraph(lines), text);
        if (keys.join() !== lines.join()) changed++;
        if (data) named++;
        for (const found of [keys, ...(data ? [applied(lines, data).keys] : [])].map(decodeGraph))
          expect(
            isomorphic(found, expected),
            `${text}\n${show(before)}\nis\n${show(found)}\nnot\n${show(expected)}`,
          ).to.equal(true);
      }),
      { numRuns: Number(process.env['UPDATE_RUNS'] ?? runs(300)) },
    );
    expect(changed).to.be.above(enough(150));
    expect(named).to.be.above(enough(15));
  }).timeout(300_000);
});

const show = (quads: readonly Quad[]): string =>
  quads
    .map(({ subject, predicate, object }) => [subject, predicate, object].map(({ value }) => value).join(' '))
    .join('\n');
