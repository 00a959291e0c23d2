/**
 * Paths of arbitrary length against a model (SPARQL 1.1 9.1, 18.4). Comunica cannot be the reference: it does not always
 * terminate, and misreads `?x p+ ?x`. Also DESCRIBE, which each server defines itself.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { runs } from '../../support/speed.js';
import {
  base,
  engineAnswer,
  graphNames,
  type SpecData,
  type SpecLevel,
  specLevel,
  writeAnswer,
} from './engine-dataset.js';

const factory = new DataFactory();
const node = (name: string) => factory.namedNode(base + name);
const names = ['s1', 's2', 's3', 's4', 's5'];

interface Edge {
  readonly graph: string;
  readonly from: string;
  readonly predicate: string;
  readonly to: string;
}
const edges: fc.Arbitrary<readonly Edge[]> = fc.array(
  fc.record({
    graph: fc.constantFrom(...graphNames.slice(0, 2)),
    from: fc.constantFrom(...names),
    predicate: fc.constantFrom('p1', 'p2'),
    to: fc.constantFrom(...names),
  }),
  { maxLength: 12 },
);
const readableGraphs = fc.subarray(graphNames.slice(0, 2));

type Pair = readonly [from: string, to: string];
type Relation = (edges: readonly Edge[]) => readonly Pair[];
const link =
  (predicate: string): Relation =>
  (all) =>
    all.filter((edge) => edge.predicate === predicate).map(({ from, to }) => [from, to]);
const inverse =
  (of: Relation): Relation =>
  (all) =>
    of(all).map(([from, to]) => [to, from]);
const either =
  (a: Relation, b: Relation): Relation =>
  (all) => [...a(all), ...b(all)];
const sequence =
  (a: Relation, b: Relation): Relation =>
  (all) =>
    a(all).flatMap(([from, middle]) => b(all).flatMap(([next, to]) => (next === middle ? [[from, to] as const] : [])));

/** Paths of one step, with their syntax and meaning. */
const steps: readonly (readonly [text: string, relation: Relation])[] = [
  ['<p1>', link('p1')],
  ['^<p1>', inverse(link('p1'))],
  ['(<p1>|<p2>)', either(link('p1'), link('p2'))],
  ['(<p1>/<p2>)', sequence(link('p1'), link('p2'))],
  ['(<p1>/^<p2>)', sequence(link('p1'), inverse(link('p2')))],
];

/** Pairs of nodes connected by a path, within the edges of one graph or of the union. */
function walk(relation: Relation, length: string, all: readonly Edge[], constants: readonly string[]): Set<string> {
  const nodes = new Set([...all.flatMap(({ from, to }) => [from, to]), ...constants]);
  const pairs = new Set<string>();
  const step = relation(all);
  for (const start of nodes) {
    if (length !== '+') pairs.add(`${start} ${start}`);
    let frontier = new Set([start]);
    const seen = new Set<string>();
    do {
      frontier = new Set(step.filter(([from, to]) => frontier.has(from) && !seen.has(to)).map(([, to]) => to));
      for (const to of frontier) {
        seen.add(to);
        pairs.add(`${start} ${to}`);
      }
    } while (frontier.size > 0 && length !== '?');
  }
  return pairs;
}

const end = fc.constantFrom('?a', '?b', '<s1>', '<s2>', '<s9>');
const isConstant = (text: string): boolean => text.startsWith('<');
const nameOf = (text: string): string => text.slice(1, -1);

describe('Paths of arbitrary length', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  const fill = (all: readonly Edge[]): Promise<void> => {
    const data: SpecData = new Map(
      graphNames.map((graph) => [
        graph,
        all
          .filter((edge) => edge.graph === graph)
          .map(({ from, predicate, to }) => ({ subject: node(from), predicate: node(predicate), object: node(to) })),
      ]),
    );
    return store.fill(data);
  };

  it('SPARQL 1.1 18.4: connects the same nodes as a model, in the union and in each graph', () =>
    fc.assert(
      fc.asyncProperty(
        edges,
        readableGraphs,
        fc.array(fc.tuple(fc.constantFrom(...steps), fc.constantFrom('*', '+', '?'), end, end, fc.boolean()), {
          minLength: 8,
          maxLength: 8,
        }),
        async (all, readable, asked) => {
          await fill(all);
          for (const [[step, relation], length, from, to, isNamed] of asked) {
            const visible = all.filter(({ graph }) => readable.includes(graph));
            const constants = [from, to].filter(isConstant).map(nameOf);
            const path = `${from} ${step}${length} ${to}`;
            const query = `SELECT * { ${isNamed ? `GRAPH ?g { ${path} }` : path} }`;
            const groups = isNamed ? readable : [undefined];
            const expected = groups.flatMap((graph) => {
              const own = visible.filter((edge) => graph === undefined || edge.graph === graph);
              return [...walk(relation, length, own, constants)].flatMap((pair) => {
                const ends = pair.split(' ');
                const fits = [from, to].every((text, at) => !isConstant(text) || nameOf(text) === ends[at]);
                if (!fits || (from === to && ends[0] !== ends[1])) return [];
                const row = new Map<string, string>(graph === undefined ? [] : [['g', `<${graph}>`]]);
                [from, to].forEach((text, at) => {
                  if (!isConstant(text)) row.set(text.slice(1), `<${base}${ends[at]}>`);
                });
                const sorted = [...row].sort(([a], [b]) => (a < b ? -1 : 1));
                return [sorted.map(([name, text]) => `${name}=${text}`).join(' ')];
              });
            });
            const found = writeAnswer(await engineAnswer(store.level, { readable: new Set(readable) }, query));
            expect(found, query).to.deep.equal(expected.sort());
          }
        },
      ),
      { numRuns: Number(process.env['ENGINE_RUNS'] ?? runs(100)) },
    ));

  it('SPARQL 1.1 16.4: DESCRIBE returns the distinct triples with a resource as subject, followed through blank nodes', async () => {
    const [a, b, c] = [factory.blankNode('b1'), factory.blankNode('b2'), factory.blankNode('b3')];
    const [first, second] = [
      { subject: node('s1'), predicate: node('p1'), object: a },
      { subject: a, predicate: node('p1'), object: b },
    ];
    const others = [
      { subject: b, predicate: node('p1'), object: a },
      { subject: c, predicate: node('p1'), object: node('s1') },
      { subject: node('s2'), predicate: node('p1'), object: node('s1') },
    ];
    await store.fill(
      new Map([
        [graphNames[0]!, [first, second, ...others]],
        [graphNames[1]!, [first]],
      ]),
    );
    const view = { readable: new Set(graphNames) };
    for (const query of ['DESCRIBE <s1>', 'DESCRIBE ?s { ?s <p1> ?o FILTER(?s = <s1>) }'])
      expect(writeAnswer(await engineAnswer(store.level, view, query)), query).to.deep.equal([
        'object=_:b1 predicate=<http://example.org/p1> subject=<http://example.org/s1>',
        'object=_:b1 predicate=<http://example.org/p1> subject=_:b2',
        'object=_:b2 predicate=<http://example.org/p1> subject=_:b1',
      ]);
  });

  it('SPARQL 1.1 16.2: creates new blank nodes of a CONSTRUCT for each solution, and LIMIT counts solutions', async () => {
    await fill(['s1', 's2', 's3'].map((from) => ({ graph: graphNames[0]!, from, predicate: 'p1', to: 's5' })));
    const view = { readable: new Set(graphNames) };
    const query = 'CONSTRUCT { ?s <p2> _:x . _:x <p1> ?o . <s4> <p1> <s4> . ?o <p1> ?nothing } { ?s <p1> ?o } LIMIT 2';
    const answer = await engineAnswer(store.level, view, query);
    expect('rows' in answer && answer.rows.length).to.equal(5);
    const blanks = 'rows' in answer ? answer.rows.flatMap((row) => [...row.values()]) : [];
    expect(new Set(blanks.filter(({ termType }) => termType === 'BlankNode').map(({ value }) => value)).size).to.equal(
      2,
    );
  });
});
