/** Matches equal those of a filter over all quads, for any terms, callers, changes and kinds of the index. */
import type { Quad, Term } from '@rdfjs/types';
import { expect } from 'chai';
import fc from 'fast-check';
import { DataFactory } from 'rdf-data-factory';
import { KeyReader, type Terms } from '../../../lib/query/access/key-reader.js';
import { termKey } from '../../../lib/query/access/terms.js';
import type { MemoryView } from '../../../lib/query/memory/memory-layers.js';
import { MemoryMatches } from '../../../lib/query/memory/memory-matches.js';
import { TermTable } from '../../../lib/query/memory/term-table.js';
import { sortKeys } from '../../../lib/storage/keys/key-order.js';
import { allQuads } from '../../../lib/storage/keys/quad-keys.js';
import { keyBlocks, type LevelSnapshot } from '../../../lib/storage/level/durable-level.js';
import { runs } from '../../support/speed.js';
import {
  base,
  datasetOf,
  graphNames,
  type SpecLevel,
  type SpecTriple,
  type SpecView,
  specLevel,
  withoutIndex,
} from './engine-dataset.js';
import { inFiles, inMemory } from './engine-memory.js';

const factory = new DataFactory<Quad>();
const xsd = 'http://www.w3.org/2001/XMLSchema#';
const iri = (name: string): Term => factory.namedNode(base + name);
const typed = (text: string, type: string): Term => factory.literal(text, factory.namedNode(xsd + type));

const subjects: readonly Term[] = [iri('s1'), iri('s2'), iri('p1'), factory.blankNode('s1'), factory.blankNode('é')];
const predicates: readonly Term[] = [iri('p1'), iri('p2'), iri('s1')];
const objects: readonly Term[] = [
  ...subjects,
  ...['', 'a', 'a\u0000\u0000b', '\u0000', `${base}s1`, 's1', '\u{1f600}', 'Ã©', 'é', 'x'.repeat(70_000)].map((text) =>
    factory.literal(text),
  ),
  ...['en', 'EN', 'fr-CA'].map((language) => factory.literal('a', language)),
  ...['1', '01', '10', 'abc'].map((text) => typed(text, 'integer')),
  ...['1', '1.0'].map((text) => typed(text, 'decimal')),
  typed('2024-01-01T00:00:00Z', 'dateTime'),
  typed(`${base}s1`, 'anyURI'),
];
const triple = fc.record({
  subject: fc.constantFrom(...subjects),
  predicate: fc.constantFrom(...predicates),
  object: fc.constantFrom(...objects),
});
const graphs = fc.array(fc.array(triple, { maxLength: 8 }), { minLength: 5, maxLength: 5 });

/** Nonexistent graph names, so that a dataset names many. */
const manyNames = Array.from({ length: 70 }, (_, number) => `${base}none/${number}`);
const names = fc.option(
  fc
    .tuple(fc.subarray([...graphNames]), fc.boolean())
    .map(([some, isMany]) => (isMany ? [...some, ...manyNames] : some)),
  { nil: undefined },
);
const views: fc.Arbitrary<SpecView> = fc
  .record({
    readable: fc.oneof(fc.constant([...graphNames]), fc.subarray([...graphNames])),
    defaultGraphs: names,
    namedGraphs: names,
  })
  .map(({ readable, defaultGraphs, namedGraphs }) => ({
    readable: new Set(readable),
    ...(defaultGraphs && { defaultGraphs }),
    ...(namedGraphs && { namedGraphs }),
  }));
const maybe = (terms: readonly Term[]) =>
  fc.option(fc.constantFrom(...terms, factory.literal('nowhere')).map(termKey), { nil: undefined, freq: 1 });
const bounds = fc.tuple(
  maybe(subjects),
  maybe(predicates),
  maybe(objects),
  maybe(graphNames.map((name) => factory.namedNode(name))),
);
// A triple of the union default graph has no graph.
const wanteds = fc.oneof(
  fc.record({ part: fc.constant('union' as const), places: fc.subarray([0, 1, 2]) }),
  fc.record({ part: fc.constant('named' as const), places: fc.subarray([0, 1, 2, 3]) }),
);

describe('Matches', function () {
  this.timeout(120_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  const asData = (all: readonly (readonly SpecTriple[])[]) => new Map(graphNames.map((name, at) => [name, all[at]!]));

  it('are those of a filter over all quads', () =>
    fc.assert(
      fc.asyncProperty(
        graphs,
        fc.subarray([0, 1, 2, 3, 4]),
        graphs,
        fc.array(fc.tuple(views, wanteds, fc.array(bounds, { minLength: 1, maxLength: 4 })), {
          minLength: 12,
          maxLength: 12,
        }),
        async (before, changed, after, asked) => {
          await store.fill(asData(before));
          const older = store.level.snapshot();
          await store.fill(asData(before.map((triples, at) => (changed.includes(at) ? after[at]! : triples))));
          const snapshot = store.level.snapshot();
          try {
            const marked = changed.map((at) => graphNames[at]!);
            const views = [
              await inMemory(store.level, snapshot, marked, { older }),
              await inMemory(store.level, snapshot, marked, { older, toIndex: inFiles }),
              await withoutIndex(store.level, snapshot),
            ];
            for (const memory of views) {
              for (const [at, [view, wanted, all]] of asked.entries())
                await same(store, snapshot, memory, { ...view, hasRanges: at % 2 === 0 }, wanted, all);
            }
          } finally {
            await older.close();
            await snapshot.close();
          }
        },
      ),
      { numRuns: Number(process.env['ENGINE_RUNS'] ?? runs(60)) },
    ));

  it('search for each constant in the dictionary, but for no term that the query has returned', async () => {
    const [knows, name] = [iri('knows'), iri('name')];
    const people = Array.from({ length: 100 }, (_, at) => iri(`person${at}`));
    const triples = people.flatMap((subject, at) => [
      { subject, predicate: knows, object: people[(at + 1) % 100]! },
      { subject, predicate: name, object: factory.literal(String(at)) },
    ]);
    await store.fill(new Map([[graphNames[0]!, triples]]));
    const snapshot = store.level.snapshot();
    try {
      for (const readable of [graphNames, graphNames.slice(0, 1)]) {
        const memory = await inMemory(store.level, snapshot, [graphNames[1]!], { toIndex: inFiles });
        let searches = 0;
        const idOf = (token: string): number => {
          searches++;
          return memory.terms.idOf(token);
        };
        const counted = { ...memory, terms: Object.assign(Object.create(memory.terms), { idOf }) };
        // A later query begins without the numbers of an earlier one, so that its time does not reveal it.
        for (const _query of [1, 2]) {
          searches = 0;
          const view = datasetOf(store.level, snapshot, { readable: new Set(readable) });
          const matches = new MemoryMatches(view, counted, () => {});
          const found: Terms[] = [];
          const wanted = { part: 'named', places: [2] } as const;
          const constant = termKey(knows);
          for await (const block of matches.stream([undefined, constant, undefined, undefined], wanted))
            found.push(...block);
          expect(found).to.have.length(100);
          const bounds = found.map((terms): Terms => [terms[2], termKey(name), undefined, undefined]);
          expect(await matches.lookUp(bounds, wanted)).to.have.length(100);
          // The two predicates. Without the numbers of the matches it was 102.
          expect(searches).to.equal(2);
          await matches.close();
        }
      }
    } finally {
      await snapshot.close();
    }
  });

  it('find every term of a table and no other', () => {
    const tokens = Array.from(
      { length: 20_000 },
      (_, number) => `${base}${number % 7 === 0 ? '\u{1f600}é' : ''}${number}`,
    );
    const table = new TermTable();
    const ids = tokens.map((token) => table.add(token));
    const { data, numbers } = table.share();
    const finished = TermTable.from(data);
    for (const [found, own] of [
      [table, ids],
      [finished, ids.map((id) => numbers[id]!)],
    ] as const) {
      expect(tokens.map((token) => found.idOf(token))).to.deep.equal(own);
      expect(own.map((id) => found.termKey(id))).to.deep.equal(tokens);
      expect(tokens.map((token) => found.idOf(`${token}#`)).every((id) => id === -1)).to.equal(true);
    }
    const sorted = sortKeys([...tokens]);
    expect(tokens.map((_token, id) => finished.termKey(id))).to.deep.equal(sorted);
    expect(sorted.map((token) => finished.placeOf(token))).to.deep.equal(sorted.map((_token, place) => place));
  });
});

const texts = (matches: readonly (readonly (string | undefined)[])[]): string[] =>
  matches.map((terms) => JSON.stringify(terms.map((term) => term ?? null))).sort();

type Bounds = (string | undefined)[][];

/** Part of the dataset in which matches are sought. */
interface Wanted {
  readonly part: 'union' | 'named';
  readonly places: readonly number[];
}

async function allOf({ level }: SpecLevel, snapshot: LevelSnapshot): Promise<Terms[]> {
  const [all, reader]: [Terms[], KeyReader] = [[], new KeyReader()];
  for await (const keys of keyBlocks(level, allQuads, { snapshot }))
    for (const key of keys) {
      reader.read(key);
      all.push([0, 1, 2, 3].map((place) => reader.token(place)));
    }
  return all;
}

/** Returns the quads of open graphs that match a pattern. */
function openQuads(quads: readonly Terms[], view: SpecView, part: Wanted['part'], bound: Terms): Terms[] {
  const names = part === 'union' ? view.defaultGraphs : view.namedGraphs;
  return quads.filter(
    (quad) =>
      view.readable.has(quad[3]!) &&
      (names?.includes(quad[3]!) ?? true) &&
      bound.every((token, place) => token === undefined || token === quad[place]),
  );
}

/** Returns the matches of a pattern: each triple of the union default graph once. */
function matching(...[quads, view, part, bound]: Parameters<typeof openQuads>): Terms[] {
  const own = openQuads(quads, view, part, bound);
  if (part === 'named' || bound[3] !== undefined) return own;
  return [...new Map(own.map((quad) => [JSON.stringify(quad.slice(0, 3)), quad])).values()];
}

async function same(
  store: SpecLevel,
  snapshot: LevelSnapshot,
  memory: MemoryView,
  view: SpecView,
  wanted: Wanted,
  all: Bounds,
): Promise<void> {
  const quads = await allOf(store, snapshot);
  const matches = new MemoryMatches(datasetOf(store.level, snapshot, view), memory, () => {});
  const { part, places } = wanted;
  const [bound] = all as [Bounds[number]];
  // All bounds of a batch have the same bound positions.
  const alike = all.filter((each) => each.every((token, at) => (token === undefined) === (bound[at] === undefined)));
  const at = (found: readonly Terms[]): Terms[] =>
    found.map((quad) => quad.map((token, place) => (places.includes(place) ? token : undefined)));
  const streamed = async (among?: { place: number; tokens: Set<string> }): Promise<string[]> => {
    const found: Terms[] = [];
    for await (const block of matches.stream(bound, { ...wanted, among })) found.push(...block);
    return texts(found);
  };
  const what = JSON.stringify({ ...view, readable: [...view.readable], wanted, bound });
  const expected = alike.map((each) => at(matching(quads, view, part, each)));
  expect((await matches.lookUp(alike, wanted)).map(texts), `lookUp ${what}`).to.deep.equal(expected.map(texts));
  expect(await streamed(), `stream ${what}`).to.deep.equal(texts(expected[0]!));
  const tokens = new Set([...subjects, ...objects.slice(5, 12)].map(termKey));
  const some = matching(quads, view, part, bound).filter((quad) => tokens.has(quad[2]!));
  expect(await streamed({ place: 2, tokens }), `among ${what}`).to.deep.equal(texts(at(some)));
  expect(await matches.count(bound, part), `count ${what}`).to.equal(expected[0]!.length);
  for (const [place, subject] of [
    [1, bound[0]],
    [1, undefined],
    [3, undefined],
  ] as const) {
    const own: Terms = [subject, undefined, undefined, undefined];
    const found = new Set<string>();
    for await (const block of matches.distinct(own, place, part)) for (const token of block) found.add(token);
    const terms = new Set(openQuads(quads, view, part, own).map((quad) => quad[place]!));
    expect([...found].sort(), `distinct ${place} ${what}`).to.deep.equal([...terms].sort());
  }
  await matches.close();
}
