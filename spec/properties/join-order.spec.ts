/**
 * The order of the patterns in a query affects neither the rows nor, by much, the number of keys read. Random queries of
 * connected patterns over products, offers, vendors, publications and persons.
 */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import type { QuadMatches } from '../../lib/query/access/quad-matches.js';
import { matchesOf } from '../../lib/query/dataset.js';
import type { MemoryView } from '../../lib/query/memory/memory-layers.js';
import { startRun } from '../../lib/query/operators/run.js';
import { compileQuery } from '../../lib/query/plan/compile-query.js';
import { xsd } from '../../lib/rdf/vocabulary.js';
import type { LevelSnapshot } from '../../lib/storage/level/durable-level.js';
import { graphsOf } from '../bench/query-shapes.js';
import { queryWithAlgebra, type SpecLevel, specLevel } from '../lib/query/engine-dataset.js';
import { inMemory } from '../lib/query/engine-memory.js';
import { runs } from '../support/speed.js';
import { Random } from './sparql-random.js';

const factory = new DataFactory<Quad>();
const base = 'http://bench.example/';
/** Properties with the kinds of their subjects and objects. */
const properties: readonly (readonly [from: string, name: string, to: string])[] = [
  ['product', 'producer', 'producer'],
  ['product', 'feature', 'feature'],
  ['product', 'label', 'text'],
  ['offer', 'product', 'product'],
  ['offer', 'vendor', 'vendor'],
  ['offer', 'deliveryDays', 'days'],
  ['review', 'reviewFor', 'product'],
  ['review', 'reviewer', 'person'],
  ['review', 'rating1', 'rating'],
  ['person', 'likes', 'product'],
  ['person', 'follows', 'person'],
  ['person', 'country', 'country'],
  ['vendor', 'country', 'country'],
  ['publication', 'creator', 'person'],
  ['publication', 'cites', 'publication'],
];

/** Returns connected patterns with at least one term, if possible. */
function randomPatterns(random: Random): string[] {
  const variables = [{ name: '?v0', kind: random.pick(['product', 'person', 'offer', 'review', 'publication']) }];
  const patterns: string[] = [];
  const length = 3 + random.below(4);
  for (let tries = 0; patterns.length < length && tries < 100; tries++) {
    const at = random.pick(variables);
    const [from, name, to] = random.pick(properties);
    const isForth = from === at.kind;
    if (!isForth && to !== at.kind) continue;
    const other = isForth ? to : from;
    const known = variables.filter(({ kind, name: own }) => kind === other && own !== at.name);
    const next = known.length > 0 && random.below(3) === 0 ? random.pick(known).name : `?v${variables.length}`;
    if (!known.some(({ name: own }) => own === next)) variables.push({ name: next, kind: other });
    patterns.push(isForth ? `${at.name} <${base}v#${name}> ${next}` : `${next} <${base}v#${name}> ${at.name}`);
  }
  const anchor = variables.find(({ kind }) => ['product', 'person', 'vendor', 'feature'].includes(kind));
  if (anchor === undefined) return patterns;
  const term = `<${base}${anchor.kind}/${random.below(3)}>`;
  return patterns.map((pattern) =>
    pattern
      .split(' ')
      .map((word) => (word === anchor.name ? term : word))
      .join(' '),
  );
}

/** Counts the keys read. A lookup counts as four keys of a scan. */
function counted(matches: QuadMatches, read: { keys: number }): QuadMatches {
  return {
    async *stream(bound, wanted) {
      for await (const block of matches.stream(bound, wanted)) {
        read.keys += block.length;
        yield block;
      }
    },
    async lookUp(bounds, wanted) {
      const found = await matches.lookUp(bounds, wanted);
      read.keys += found.reduce((sum, { length }) => sum + length, 4 * bounds.length);
      return found;
    },
    count: (bound, part) => matches.count(bound, part),
    distinct: (bound, place, part) => matches.distinct(bound, place, part),
    estimate: (bound, part) => matches.estimate(bound, part),
    sample: (bound, wanted, most) => matches.sample(bound, wanted, most),
    close: () => matches.close(),
  };
}

describe('Order of patterns', function () {
  this.timeout(300_000);
  let data: SpecLevel;
  let snapshot: LevelSnapshot;
  let memory: MemoryView;
  before(async () => {
    data = await specLevel();
    await data.fill(new Map([...graphsOf(60)]));
    snapshot = data.level.snapshot();
    memory = await inMemory(data.level, snapshot, []);
  });
  after(async () => {
    await snapshot.close();
    await data.close();
  });

  const ran = async (patterns: readonly string[]): Promise<{ rows: number; keys: number }> => {
    const { algebra } = await queryWithAlgebra(`SELECT * { ${patterns.join(' . ')} }`);
    const read = { keys: 0 };
    const readable = { all: true, known: () => true, resolve: async () => {} };
    const matches = matchesOf({ level: data.level, snapshot, memory, readable }, () => {});
    const run = startRun({ matches: counted(matches, read) }, compileQuery(algebra, base));
    let rows = 0;
    for await (const block of run.rows) {
      rows += block.length;
      if (rows > 200_000) break;
    }
    await run.close();
    return { rows, keys: read.keys };
  };

  it('changes neither the rows nor, by more than a factor of 2, the number of keys read', async () => {
    let compared = 0;
    for (let seed = 1; compared < runs(1200); seed++) {
      const random = new Random(seed);
      const patterns = randomPatterns(random);
      const first = await ran(patterns);
      if (first.rows > 200_000) continue;
      compared++;
      for (let turn = 0; turn < 5; turn++) {
        const other = [...patterns].sort(() => random.below(3) - 1);
        const again = await ran(other);
        expect(again.rows, patterns.join('\n')).to.equal(first.rows);
        expect(again.keys, `seed ${seed}\n${patterns.join('\n')}\n---\n${other.join('\n')}`).to.be.within(
          first.keys / 2 - 64,
          first.keys * 2 + 64,
        );
      }
    }
  });
});

describe('The order of two patterns with the same number of matches', () => {
  const v = (name: string) => factory.namedNode(`${base}v#${name}`);
  const count = 3000;
  let data: SpecLevel;
  let snapshot: LevelSnapshot;
  before(async () => {
    data = await specLevel();
    const triples = Array.from({ length: count }, (_, at) => {
      const subject = factory.namedNode(`${base}work/${at}`);
      const creator = factory.namedNode(`${base}person/${at % 50}`);
      return [
        { subject, predicate: v('creator'), object: creator },
        { subject, predicate: v('name'), object: factory.literal(`river ${at}`) },
        {
          subject,
          predicate: v('number'),
          object: factory.literal(`${at}`, factory.namedNode(`${xsd.namespace}integer`)),
        },
      ];
    });
    await data.fill(new Map([[`${base}works`, triples.flat()]]));
    snapshot = data.level.snapshot();
  });
  after(async () => {
    await snapshot.close();
    await data.close();
  });

  /** Returns the count of rows, and of the keys that are read. */
  const ran = async (where: string): Promise<{ rows: number; keys: number }> => {
    const memory = await inMemory(data.level, snapshot, []);
    const { algebra } = await queryWithAlgebra(`PREFIX v: <${base}v#> SELECT * { ${where} }`);
    const read = { keys: 0 };
    const readable = { all: true, known: () => true, resolve: async () => {} };
    const matches = matchesOf({ level: data.level, snapshot, memory, readable }, () => {});
    const run = startRun({ matches: counted(matches, read) }, compileQuery(algebra, base));
    let rows = 0;
    for await (const block of run.rows) rows += block.length;
    await run.close();
    return { rows, keys: read.keys };
  };

  it('begins with the one that a filter restricts', async () => {
    for (const patterns of ['?s v:creator ?p ; v:name ?n', '?s v:name ?n ; v:creator ?p']) {
      const { rows, keys } = await ran(`${patterns} FILTER(STRSTARTS(?n, "river 123"))`);
      expect(rows).to.equal(11);
      // All names, and a lookup for each row, instead of all creators as well.
      expect(keys, patterns).to.equal(count + 5 * rows);
    }
  });

  it('begins with the one that completes the variables of a filter', async () => {
    const [one, same] = [`<${base}work/7>`, `?s v:creator <${base}person/7>`];
    const patterns = [`${one} v:number ?a`, same, '?s v:name ?n', '?s v:number ?b'];
    for (const all of [patterns, [...patterns].reverse(), [1, 2, 3, 0].map((at) => patterns[at])]) {
      const { rows, keys } = await ran(`${all.join(' . ')} FILTER(?b < ?a + 500)`);
      expect(rows).to.equal(10);
      // The number of the work, its creator's 60 works, their numbers, and the names of the rows that pass the filter.
      expect(keys, all.join('\n')).to.equal(1 + 60 + 5 * 60 + 5 * rows);
    }
  });
});
