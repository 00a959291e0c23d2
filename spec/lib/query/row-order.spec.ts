/**
 * Row order reveals nothing of hidden data: over two stores that only differ in hidden graphs, a restricted caller gets the same
 * rows in the same order, from the index with any changes since it was built, and without an index.
 */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { answersOf } from '../../../lib/query/answers.js';
import type { MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { parseQuery } from '../../../lib/query/parse/parse-query.js';
import { type IriRange, only, unionOfRanges } from '../../../lib/storage/keys/iri-ranges.js';
import type { LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { runs } from '../../support/speed.js';
import {
  base,
  graphNames,
  type SpecData,
  type SpecLevel,
  type SpecTriple,
  specLevel,
  withoutIndex,
} from './engine-dataset.js';
import { inMemory } from './engine-memory.js';
import { randomData, randomQuery } from './engine-queries.js';

const factory = new DataFactory<Quad>();
const iri = (name: string): Term => factory.namedNode(base + name);

/** Before, between and after the open graphs. */
const hiddenNames = ['graphs/A', 'graphs/b-', 'graphs/cc', 'graphs/d/x', 'graphs/z'].map((name) => base + name);

/** Terms of open data in a fixed order, and other terms. */
const nodes = ['s4', 's3', 'h1', 's2', 's1', 'p3', 'a0', 'zz'].map(iri);
const hiddenTriple: fc.Arbitrary<SpecTriple> = fc.record({
  subject: fc.constantFrom(...nodes),
  predicate: fc.constantFrom(...['p3', 'p2', 'p1', 'hp'].map(iri)),
  object: fc.oneof(
    fc.constantFrom(...nodes),
    fc.constantFrom(...['b', 'a', '7', 'é'].map((text) => factory.literal(text) as Term)),
  ),
});
/** Many triples of one predicate, to distort estimates. */
const bulk: fc.Arbitrary<SpecTriple[]> = fc
  .tuple(fc.constantFrom('p1', 'p2', 'p3'), fc.constantFrom(0, 0, 0, 60, 400, 1500))
  .map(([predicate, count]) =>
    Array.from({ length: count }, (_, at) => ({
      subject: nodes[at % 3] ?? iri('h2'),
      predicate: iri(predicate),
      object: factory.literal(String(at)),
    })),
  );
const hiddenGraph = fc.array(hiddenTriple, { maxLength: 20 });
const hiddenData: fc.Arbitrary<SpecData> = fc
  .tuple(
    fc.array(hiddenGraph, { minLength: hiddenNames.length, maxLength: hiddenNames.length }),
    fc.nat(hiddenNames.length - 1),
    bulk,
  )
  .map(([graphs, large, much]) => {
    const triplesOf = (at: number): SpecTriple[] => [...graphs[at]!, ...(at === large ? much : [])];
    return new Map(hiddenNames.map((name, at) => [name, triplesOf(at)]));
  });

interface View {
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
  /** Known ranges of open graphs. */
  readonly ranges: readonly IriRange[] | undefined;
}
const exactly = unionOfRanges(graphNames.map(only));
const about = [{ from: `${base}graphs/a`, to: `${base}graphs/f` }];
const allNames = [...graphNames, ...hiddenNames];
const someNames = fc.option(fc.subarray(allNames), { nil: undefined, freq: 4 });
const views: fc.Arbitrary<View> = fc
  .tuple(someNames, someNames, fc.constantFrom(undefined, exactly, about))
  .map(([defaultGraphs, namedGraphs, ranges]) => ({
    ...(defaultGraphs && { defaultGraphs }),
    ...(namedGraphs && { namedGraphs }),
    ranges,
  }));

/** Operators that select or combine rows in their order of arrival. */
const picking = fc
  .tuple(
    fc.constantFrom(
      '?s ?p ?o',
      '?s <p1> ?o',
      '?s <p2> ?x . ?x ?p ?o',
      'GRAPH ?g { ?s ?p ?o }',
      '?s <p1>* ?o',
      '?s ?p ?o OPTIONAL { ?o <p2> ?x }',
    ),
    fc.constantFrom(
      (where: string, most: number) => `SELECT ?s ?o { ${where} } LIMIT ${most}`,
      (where: string, most: number) => `SELECT DISTINCT ?o { ${where} } LIMIT ${most} OFFSET ${most}`,
      (where: string) => `SELECT (SAMPLE(?o) AS ?one) (SAMPLE(STR(?s)) AS ?other) { ${where} }`,
      (where: string) => `SELECT ?s (SAMPLE(?o) AS ?one) { ${where} } GROUP BY ?s`,
      (where: string) => `SELECT (GROUP_CONCAT(STR(?o)) AS ?all) { ${where} FILTER(!isBlank(?o)) }`,
      (where: string) =>
        `SELECT ?o (GROUP_CONCAT(DISTINCT STR(?s); SEPARATOR=",") AS ?all) { ${where} FILTER(!isBlank(?s)) } GROUP BY ?o`,
      (where: string, most: number) => `SELECT ?s ?o { ${where} } ORDER BY DATATYPE(?o) LIMIT ${most}`,
      (where: string, most: number) => `CONSTRUCT { ?s <is> ?o } { ${where} } LIMIT ${most}`,
      (where: string) => `CONSTRUCT { ?o <of> ?s } { ${where} }`,
      (where: string, most: number) => `DESCRIBE ?s { ${where} } LIMIT ${most}`,
      () => 'DESCRIBE <s1> <s2> <h1>',
    ),
    fc.integer({ min: 1, max: 4 }),
  )
  .map(([where, form, most]) => ({ text: form(where, most) }));

/** Rows in order of arrival. */
async function rowsOf(
  { level }: SpecLevel,
  snapshot: LevelSnapshot,
  memory: MemoryView,
  { ranges, ...view }: View,
  text: string,
): Promise<string[]> {
  const asked = new Set<string>();
  const readable = {
    all: false,
    ranges: () => ranges,
    isExact: ranges === exactly,
    known: (graph: string) => (asked.has(graph) || graph < `${base}graphs/c` ? graphNames.includes(graph) : undefined),
    async resolve(graphs: readonly string[]) {
      await new Promise(setImmediate);
      for (const graph of graphs) asked.add(graph);
    },
  };
  const query = await parseQuery(text, base);
  const answers = answersOf(query, { level, snapshot, memory, readable, ...view });
  try {
    if (query.form === 'ask') return [String(await answers.truth())];
    const rows: string[] = [];
    if (query.form !== 'select') {
      for await (const block of answers.quads())
        for (const { subject, predicate, object } of block)
          rows.push(JSON.stringify([subject, predicate, object].map(({ value }) => value)));
      return rows;
    }
    for await (const block of answers.rows())
      for (const row of block) rows.push(JSON.stringify(row.map((term) => term ?? null)));
    return rows;
  } finally {
    await answers.close();
  }
}

describe('Row order', function () {
  const numRuns = Number(process.env['ENGINE_RUNS'] ?? runs(60));
  this.timeout(numRuns * 2000);
  let without: SpecLevel;
  let store: SpecLevel;
  before(async () => {
    [without, store] = [await specLevel(), await specLevel()];
  });
  after(() => Promise.all([without.close(), store.close()]));

  const queries = fc.array(fc.tuple(views, fc.oneof({ weight: 2, arbitrary: randomQuery }, picking)), {
    minLength: 8,
    maxLength: 8,
  });

  it('is the same without an index, with any hidden data', () =>
    fc.assert(
      fc.asyncProperty(randomData, hiddenData, queries, async (open, hidden, asked) => {
        await without.fill(open);
        await store.fill(new Map([...open, ...hidden]));
        const snapshots = [without.level.snapshot(), store.level.snapshot()] as const;
        try {
          for (const [view, { text }] of asked) {
            const [expected, found] = [
              await rowsOf(without, snapshots[0], await withoutIndex(without.level, snapshots[0]), view, text),
              await rowsOf(store, snapshots[1], await withoutIndex(store.level, snapshots[1]), view, text),
            ];
            expect(found, `${text} ${JSON.stringify(view)}`).to.deep.equal(expected);
          }
        } finally {
          for (const snapshot of snapshots) await snapshot.close();
        }
      }),
      { numRuns },
    ));

  it('is the same from memory, with any hidden data and changes', () =>
    fc.assert(
      fc.asyncProperty(
        randomData,
        hiddenData,
        fc.tuple(fc.subarray([...graphNames]), fc.subarray(allNames)),
        fc.tuple(hiddenData, randomData),
        queries,
        async (open, hidden, [changed, changedToo], [before, openBefore], asked) => {
          // Changed graphs had another content when memory was read.
          const older = (now: SpecData, then: SpecData, names: readonly string[]): SpecData =>
            new Map([...now].map(([name, triples]) => [name, names.includes(name) ? (then.get(name) ?? []) : triples]));
          await without.fill(older(open, openBefore, changed));
          const first = without.level.snapshot();
          await without.fill(open);
          const all: SpecData = new Map([...open, ...hidden]);
          await store.fill(older(all, new Map([...openBefore, ...before]), changedToo));
          const second = store.level.snapshot();
          await store.fill(all);
          const snapshots = [without.level.snapshot(), store.level.snapshot()] as const;
          try {
            const expectedFrom = await inMemory(without.level, snapshots[0], changed, { older: first });
            const foundIn = await inMemory(store.level, snapshots[1], changedToo, { older: second });
            for (const [view, { text }] of asked) {
              const [expected, found] = [
                await rowsOf(without, snapshots[0], expectedFrom, view, text),
                await rowsOf(store, snapshots[1], foundIn, view, text),
              ];
              expect(found, `${text} ${JSON.stringify(view)}`).to.deep.equal(expected);
            }
          } finally {
            for (const snapshot of [...snapshots, first, second]) await snapshot.close();
          }
        },
      ),
      { numRuns },
    ));
});
