/**
 * Matches and query results of every kind of caller equal a naive scan: with an index in files whose windows have a few rows, with
 * changed graphs in zero, one or two layers, after merges and restarts.
 */
import { expect } from 'chai';
import type { DatasetGraphs } from '../../lib/query/access/graph-filter.js';
import type { Terms } from '../../lib/query/access/key-reader.js';
import type { NumberedMatches } from '../../lib/query/access/quad-matches.js';
import {
  type GraphScope,
  type ReadableGraphs,
  readableGraphs,
  resourceOf,
} from '../../lib/query/access/readable-graphs.js';
import { termKey } from '../../lib/query/access/terms.js';
import { answersOf } from '../../lib/query/answers.js';
import { MemoryMatches } from '../../lib/query/memory/memory-matches.js';
import { parseQuery } from '../../lib/query/parse/parse-query.js';
import { type IriRange, only, subtree, unionOfRanges } from '../../lib/storage/keys/iri-ranges.js';
import { runs } from '../support/speed.js';
import { containers, creator, IndexWorld, ownerOf, resources, storage, vocabulary } from './index-worlds.js';
import { Random } from './sparql-random.js';

type View = Awaited<ReturnType<IndexWorld['view']>>;

/** A caller: what it may read, as the scope of the authorizer and for each resource. */
interface SpecCaller {
  readonly scope: GraphScope;
  readonly mayRead: (iri: string) => boolean;
  readonly within?: string;
  readonly hidden?: ReadonlySet<string>;
  readonly owned?: readonly string[];
}

const inSome = (ranges: readonly IriRange[]) => (iri: string) => ranges.some(({ from, to }) => from <= iri && iri < to);
const owned = resources.filter((iri) => ownerOf(iri) !== undefined);
const everything = () => true;

/** All kinds of callers (`readableGraphs`). */
const callers: Readonly<Record<string, (random: Random) => SpecCaller>> = {
  everything: () => ({ scope: 'everything', mayRead: everything }),
  'everything in a container': (random) => ({
    scope: 'everything',
    mayRead: everything,
    within: random.pick([...containers, ...resources]),
  }),
  'everything, with hidden graphs': (random) => ({
    scope: 'everything',
    mayRead: everything,
    hidden: new Set(random.some(1, 4, () => random.pick(resources))),
  }),
  ranges(random) {
    const ranges = rangesOf(random);
    return { scope: { ranges }, mayRead: inSome(ranges) };
  },
  'ranges, with hidden graphs': (random) => {
    const ranges = rangesOf(random);
    return { scope: { ranges }, mayRead: inSome(ranges), hidden: new Set([random.pick(resources)]) };
  },
  'an owner of few resources': (random) => ({ ...ofCreator(random), owned }),
  'an owner of many resources': (random) => ofCreator(random),
  'decided for each resource': (random) => ({ scope: 'decide', mayRead: someOf(random) }),
  'decided for each resource of a container': (random) => ({
    scope: 'decide',
    mayRead: someOf(random),
    within: random.pick(containers),
  }),
  'decided for each resource, with hidden graphs': (random) => ({
    scope: 'decide',
    mayRead: someOf(random),
    hidden: new Set([random.pick(resources)]),
  }),
  nothing: () => ({ scope: 'nothing', mayRead: () => false }),
};

const rangesOf = (random: Random): readonly IriRange[] =>
  unionOfRanges([
    ...random.some(0, 2, () => subtree(random.pick(containers))),
    ...random.some(0, 4, () => only(random.pick(resources))),
  ]);

function ofCreator(random: Random): SpecCaller {
  const ranges = rangesOf(random);
  const isInRanges = inSome(ranges);
  return {
    scope: { owner: creator, ranges },
    mayRead: (iri) => ownerOf(iri) === creator || isInRanges(iri),
  };
}

function someOf(random: Random): (iri: string) => boolean {
  const share = random.pick([0.1, 0.5, 0.9]);
  const some = new Set(resources.filter(() => random.chance(share)));
  return (iri) => some.has(iri);
}

const isOpen = ({ mayRead, within, hidden }: SpecCaller, graph: string): boolean => {
  const iri = resourceOf(graph);
  const isWithin = within === undefined || iri === within || (within.endsWith('/') && iri.startsWith(within));
  return isWithin && !hidden?.has(graph) && mayRead(iri);
};

const readableOf = (caller: SpecCaller, { level, snapshot }: View): ReadableGraphs =>
  readableGraphs({
    ...{ level, snapshot, scope: caller.scope, within: caller.within, owned: caller.owned },
    ...(caller.hidden && { hidden: caller.hidden }),
    async decide(iris) {
      await new Promise(setImmediate);
      return iris.map(caller.mayRead);
    },
  });

/** FROM and FROM NAMED, with fewer and with more graphs than are looked up one by one (64). */
function namesOf(random: Random): Pick<DatasetGraphs, 'defaultGraphs' | 'namedGraphs'> {
  const some = (): string[] | undefined => {
    if (random.chance(0.7)) return undefined;
    const nowhere = random.chance(0.5) ? Array.from({ length: 70 }, (_, at) => `${storage}none/${at}`) : [];
    return [...random.some(0, 6, () => random.pick(resources)), ...nowhere];
  };
  const [defaultGraphs, namedGraphs] = [some(), some()];
  return { ...(defaultGraphs && { defaultGraphs }), ...(namedGraphs && { namedGraphs }) };
}

interface Asked extends View, Pick<DatasetGraphs, 'defaultGraphs' | 'namedGraphs'> {
  readonly caller: SpecCaller;
  readonly quads: readonly Terms[];
}

type Part = 'union' | 'named';

/** Quads of the caller's dataset: a scan over all. */
function openQuads({ caller, quads, defaultGraphs, namedGraphs }: Asked, part: Part, bound: Terms): readonly Terms[] {
  const names = part === 'union' ? defaultGraphs : namedGraphs;
  return quads.filter(
    (quad) =>
      isOpen(caller, quad[3]!) &&
      (names?.includes(quad[3]!) ?? true) &&
      bound.every((token, place) => token === undefined || token === quad[place]),
  );
}

const textOf = (terms: readonly (string | undefined)[], places: readonly number[]): string =>
  places.map((place) => terms[place]).join(' ');
const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

async function streamed(
  matches: MemoryMatches,
  bound: Terms,
  part: Part,
  places: readonly number[],
): Promise<string[]> {
  const found: string[] = [];
  for await (const block of matches.stream(bound, { part, places }))
    for (const match of block) found.push(textOf(match, places));
  return found.sort();
}

async function valuesOf(matches: MemoryMatches, bound: Terms, place: number, part: Part): Promise<string[]> {
  const found: string[] = [];
  for await (const block of matches.distinct(bound, place, part)) found.push(...block);
  return distinct(found);
}

/** Compares sorted lists, with a short message. */
function expectSame(found: readonly string[], expected: readonly string[], what: string): void {
  if (found.length === expected.length && found.every((text, at) => text === expected[at])) return;
  const without = (list: readonly string[], other: readonly string[]) => list.filter((text) => !other.includes(text));
  const [missing, more] = [without(expected, found), without(found, expected)];
  const some = { missing: missing.slice(0, 5), more: more.slice(0, 5) };
  expect.fail(`${what}: ${found.length} instead of ${expected.length} values, ${JSON.stringify(some)}`);
}

/** Compares all kinds of access to matches of a pattern. Each has matches, and so decisions, of its own. */
async function expectSameMatches(asked: Asked, bound: Terms): Promise<void> {
  const { caller, quads: _all, memory, ...named } = asked;
  const matchesNow = () => new MemoryMatches({ ...named, readable: readableOf(caller, asked) }, memory, () => {});
  for (const part of ['union', 'named'] as const) {
    const own = openQuads(asked, part, bound);
    const isUnion = part === 'union' && bound[3] === undefined;
    const places = part === 'union' ? [0, 1, 2] : [0, 1, 2, 3];
    const all = own.map((quad) => textOf(quad, places));
    const expected = isUnion ? distinct(all) : all.sort();
    const what = `${part} ${JSON.stringify(bound)}`;
    expectSame(await streamed(matchesNow(), bound, part, places), expected, `stream ${what}`);
    expect(await matchesNow().count(bound, part), `count ${what}`).to.equal(expected.length);
    const [found] = await matchesNow().lookUp([bound], { part, places });
    expectSame(found!.map((match) => textOf(match, places)).sort(), expected, `lookUp ${what}`);
    await expectSameLookUps(matchesNow().numbered, asked, { part, bound, places });
    const inTurn = matchesNow();
    for (const place of [0, 1, 2, 3].filter((each) => bound[each] === undefined)) {
      const values = distinct(own.map((quad) => quad[place]!));
      for (const matches of [matchesNow(), inTurn])
        expectSame(await valuesOf(matches, bound, place, part), values, `distinct ${place} ${what}`);
    }
    const sample = await matchesNow().sample(bound, { part, places }, 8);
    for (const match of sample) expect(all.includes(textOf(match, places)), `sample ${what}`).to.equal(true);
  }
}

/** Compares lookups of numbers: of the bound terms, and of those of other quads in the same positions. */
async function expectSameLookUps(
  numbered: NumberedMatches,
  asked: Asked,
  { part, bound, places }: { readonly part: Part; readonly bound: Terms; readonly places: readonly number[] },
): Promise<void> {
  const at = [0, 1, 2].filter((place) => bound[place] !== undefined);
  const others = asked.quads.filter((_, index) => index % Math.ceil(asked.quads.length / 20) === 0);
  const rows = [bound, ...others].filter((terms) => at.every((place) => numbered.numberOf(terms[place]!) >= 0));
  const keys = at.map((place) => Uint32Array.from(rows.map((terms) => numbered.numberOf(terms[place]!))));
  const graph: Terms = [undefined, undefined, undefined, bound[3]];
  const of = { places: at, keys, length: at.length === 0 ? 0 : rows.length };
  const found = await numbered.lookUp(graph, of, { part, places });
  const counts = await numbered.lookUp(graph, of, { part, places: [] });
  for (let row = 0; row < of.length; row++) {
    const own = [0, 1, 2, 3].map((place) => (at.includes(place) ? rows[row]![place] : graph[place]));
    const all = openQuads(asked, part, own).map((quad) => textOf(quad, places));
    const expected = part === 'union' && bound[3] === undefined ? distinct(all) : all.sort();
    const matches = found.rows.flatMap((each, index) => (each === row ? [index] : []));
    const texts = matches.map((index) => found.columns.map((column) => numbered.termKey(column[index]!)).join(' '));
    expectSame(texts.sort(), expected, `numbered lookUp ${part} ${JSON.stringify(own)}`);
    const count = counts.weights.reduce((sum, weight, index) => sum + (counts.rows[index] === row ? weight : 0), 0);
    expect(count, `weights ${part} ${JSON.stringify(own)}`).to.equal(expected.length);
  }
}

/** Queries whose plan uses distinct values, and the positions and bound terms of the values. */
const queries: readonly (readonly [query: string, place: number, bound: Terms])[] = [
  ['SELECT DISTINCT ?v { ?s ?v ?o }', 1, []],
  [`SELECT DISTINCT ?v { <${vocabulary}s1> ?v ?o }`, 1, [`${vocabulary}s1`]],
  ['SELECT DISTINCT ?v { GRAPH ?v { ?s ?p ?o } }', 3, []],
  [`SELECT DISTINCT ?v { GRAPH ?v { <${vocabulary}s2> ?p ?o } }`, 3, [`${vocabulary}s2`]],
  [`SELECT DISTINCT ?v { ?s <${vocabulary}p> ?v }`, 2, [undefined, `${vocabulary}p`]],
  ['SELECT DISTINCT ?v { ?v ?p ?o }', 0, []],
];

async function expectSameAnswers(asked: Asked): Promise<void> {
  const { caller, quads: _all, ...dataset } = asked;
  for (const [query, place, bound] of queries) {
    const answers = answersOf(await parseQuery(query, storage), {
      ...dataset,
      readable: readableOf(caller, asked),
      assertTime: () => {},
    });
    const found: string[] = [];
    for await (const block of answers.rows()) for (const [value] of block) found.push(termKey(value!));
    await answers.close();
    const part = query.includes('GRAPH') ? 'named' : 'union';
    const all = openQuads(asked, part, [...bound, undefined, undefined, undefined, undefined].slice(0, 4));
    expectSame(distinct(found), distinct(all.map((quad) => quad[place]!)), query);
  }
}

function boundOf(random: Random, quads: readonly Terms[]): Terms {
  const from = random.pick(quads);
  return [0, 1, 2, 3].map((place) =>
    random.chance(0.35) ? (random.chance(0.9) ? from[place] : random.pick(quads)[place]) : undefined,
  );
}

describe('Matches from an index in files with short windows', function () {
  this.timeout(300_000);

  const layers = new Set<number>();
  for (let seed = 1; seed <= runs(40); seed++)
    it(`equal a scan for every kind of caller (seed ${seed}; rules 14.2, 14.7)`, async () => {
      const random = new Random(seed);
      const world = await IndexWorld.open(random);
      try {
        for (let step = 0; step < 8; step++) {
          const change = random.pick(['few', 'few', 'many', 'merge', 'restart', 'none']);
          if (change === 'few') await world.changeSome();
          if (change === 'many') await world.changeMuch();
          if (change === 'merge') world.merge();
          if (change === 'restart') world.restart();
          const view = await world.view();
          layers.add(view.memory.layers.length);
          try {
            for (const [kind, callerOf] of Object.entries(callers)) {
              const asked = { ...view, ...namesOf(random), caller: callerOf(random), quads: world.quads };
              const bounds: Terms[] = [[undefined, undefined, undefined, undefined], boundOf(random, asked.quads)];
              try {
                for (const bound of bounds) await expectSameMatches(asked, bound);
                await expectSameAnswers(asked);
              } catch (error) {
                (error as Error).message = `step ${step} (${change}), caller ${kind}: ${(error as Error).message}`;
                throw error;
              }
            }
          } finally {
            await view.snapshot.close();
          }
        }
      } finally {
        await world.close();
      }
    });

  it('were compared without changed graphs, and with one and two layers of them', () => {
    expect([...layers].sort()).to.deep.equal([1, 2, 3]);
  });
});
