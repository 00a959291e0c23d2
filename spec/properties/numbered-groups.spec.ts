/**
 * Aggregates over numbers of terms, for random joins, paths, OPTIONAL, MINUS, EXISTS, UNION, filters and graphs, against Oxigraph and the
 * naive evaluator of SPARQL 1.1, section 18. Datasets have copies of triples in several graphs, changed graphs over the index, and
 * unreadable graphs, of which the oracles have nothing.
 */
import { deepStrictEqual, ok } from 'node:assert';
import { MemoryNumbers } from '../../lib/query/memory/memory-numbers.js';
import { parseQuery } from '../../lib/query/parse/parse-query.js';
import { base, graphNames, type SpecLevel, specLevel, type ToMemory } from '../lib/query/engine-dataset.js';
import { halfInFiles, halfInMemory, inMemory } from '../lib/query/engine-memory.js';
import { runs } from '../support/speed.js';
import { largeDataset, nodeNames, predicateNames, smallDataset } from './sparql-data.js';
import {
  areSame,
  graphsOf,
  naiveOutcome,
  type Outcome,
  ourOutcome,
  oxigraphOf,
  oxigraphOutcome,
  TooMuch,
  type World,
  writeDifference,
} from './sparql-oracles.js';
import { Random } from './sparql-random.js';

const count = runs(400);
const queriesOfDataset = 20;
const variables = ['?a', '?b', '?c', '?d'];
const iri = (name: string): string => `<${base}${name}>`;

/** Random aggregate queries that `numberedGroups` evaluates. */
class Query {
  constructor(
    private readonly random: Random,
    private readonly isLarge: boolean,
  ) {}

  text(): string {
    const { random } = this;
    const keys = random.chance(0.4) ? [] : random.some(1, 2, () => this.variable());
    const results = random.some(1, 3, () => this.aggregate()).map((each, at) => `(${each} AS ?x${at})`);
    const from = random.chance(0.15) ? random.some(1, 2, () => `FROM <${random.pick(graphNames)}>`).join(' ') : '';
    const by = keys.length > 0 ? `GROUP BY ${keys.join(' ')}` : '';
    if (random.chance(0.2) && keys.length > 0)
      return `SELECT (COUNT(*) AS ?n) ${from} WHERE { ${this.group()} } ${by} ORDER BY ${random.pick(['DESC(?n)', '?n'])} LIMIT ${random.below(4)}`;
    return `SELECT ${[...new Set(keys)].join(' ')} ${results.join(' ')} ${from} WHERE { ${this.group()} } ${by}`;
  }

  private variable(): string {
    return this.random.pick(variables);
  }

  private aggregate(): string {
    const variable = this.variable();
    const other = this.variable();
    return this.random.pick([
      'COUNT(*)',
      'COUNT(DISTINCT *)',
      `COUNT(${variable})`,
      `COUNT(DISTINCT ${variable})`,
      `COUNT(isLITERAL(${variable}))`,
      `SUM(STRLEN(STR(${variable})))`,
      `SUM(IF(${variable} = ${other}, 1, 0))`,
      `SUM(DISTINCT STRLEN(STR(${variable})) + 1)`,
      `AVG(STRLEN(STR(${variable})))`,
      `MIN(STR(${variable}))`,
      `MAX(STRLEN(STR(${variable})))`,
      'SUM(2)',
      `STRLEN(GROUP_CONCAT(STR(${variable}); SEPARATOR="-"))`,
    ]);
  }

  private node(): string {
    return this.random.chance(0.12) ? iri(this.random.pick(nodeNames)) : this.variable();
  }

  private triple(): string {
    const predicate = this.random.chance(0.9) ? iri(this.random.pick(predicateNames)) : this.variable();
    if (this.random.chance(0.08) && !this.isLarge)
      return `${this.node()} ${iri(this.random.pick(predicateNames))}${this.random.pick(['+', '*', '?'])} ${this.node()} .`;
    return `${this.node()} ${predicate} ${this.node()} .`;
  }

  private triples(): string {
    // Large joins have a pattern with a constant each, so that the oracles end.
    const [least, most] = this.isLarge ? [1, 2] : [1, 3];
    return this.random.some(least, most, () => this.triple()).join(' ');
  }

  private condition(): string {
    const [variable, other] = [this.variable(), this.variable()];
    return this.random.pick([
      `${variable} = ${other}`,
      `${variable} != ${other}`,
      `sameTerm(${variable}, ${other})`,
      `isIRI(${variable})`,
      `isBLANK(${variable})`,
      `isLITERAL(${variable})`,
      `BOUND(${variable})`,
      `!BOUND(${variable})`,
      `STRSTARTS(STR(${variable}), "${this.random.pick(['http', `${base}p`, '1', 'a', 'ab'])}")`,
      `STRSTARTS(${variable}, "${this.random.pick(['a', 'ab', '1', 'http'])}")`,
      `REGEX(${variable}, "${this.random.pick(['^a', '^ab', '^1', '^a.', 'a', '^a|b'])}")`,
      `REGEX(STR(${variable}), "${this.random.pick(['^http', `^${base.replaceAll('.', '[.]')}`, '^a'])}")`,
      `${variable} > 1`,
    ]);
  }

  private group(): string {
    const { random } = this;
    const own = random.chance(0.2)
      ? `GRAPH ${random.pick(['?g', this.variable(), `<${random.pick(graphNames)}>`])} { ${this.triples()} }`
      : random.chance(0.2)
        ? `{ ${this.triples()} } UNION { ${this.triples()} } ${random.chance(0.5) ? this.triple() : ''}`
        : this.triples();
    const rest = random.pick([
      () => '',
      () => `OPTIONAL { ${this.triples()} }`,
      () => `MINUS { ${this.triples()} }`,
      () => `FILTER EXISTS { ${this.triples()} }`,
      () => `FILTER NOT EXISTS { ${this.triples()} }`,
      () => `{ SELECT ?a (COUNT(*) AS ?d) { ${this.triple()} } GROUP BY ?a }`,
      () => `VALUES ?a { ${iri(random.pick(nodeNames))} ${iri('absent')} }`,
    ])();
    return `${own} ${rest} ${random.chance(0.3) ? `FILTER(${this.condition()})` : ''}`;
  }
}

const engines: readonly (readonly [name: string, toMemory: ToMemory])[] = [
  ['memory', (level, snapshot) => inMemory(level, snapshot, [])],
  ['memory with changes', halfInMemory],
  ['files with changes', halfInFiles],
];

describe('Groups over numbers of terms', () => {
  let store: SpecLevel;
  /** Number of scans and lookups of numbers. */
  let scans = 0;
  const { scan, lookUp } = MemoryNumbers.prototype;
  before(async () => {
    store = await specLevel();
    MemoryNumbers.prototype.scan = function (...given) {
      scans++;
      return scan.apply(this, given);
    };
    MemoryNumbers.prototype.lookUp = function (...given) {
      scans++;
      return lookUp.apply(this, given);
    };
  });
  after(() => {
    Object.assign(MemoryNumbers.prototype, { scan, lookUp });
    return store.close();
  });

  it(`have the results of other evaluators: ${count} random queries`, async function () {
    this.timeout(0);
    const failures: string[] = [];
    let [numbered, compared, withRows] = [0, 0, 0];
    for (let seed = 1; seed <= count / queriesOfDataset; seed++) {
      const random = new Random(seed);
      const isLarge = seed % 5 === 0;
      const { data } = (isLarge ? largeDataset : smallDataset)(random);
      const readable = new Set(random.chance(0.5) ? graphNames : graphNames.filter(() => random.chance(0.6)));
      await store.fill(data);
      const world: World = { store, data, readable, oxigraph: oxigraphOf(data, readable) };
      const isRight = async (text: string, ours: Outcome): Promise<boolean> =>
        areSame(ours, await oxigraphOutcome(world, text)) ||
        areSame(ours, await naiveOutcome(text, graphsOf(data, readable)));
      for (let at = 0; at < queriesOfDataset; at++) {
        const text = new Query(random, isLarge).text();
        for (const [name, toMemory] of engines)
          try {
            const before = scans;
            const of = { toMemory, numbersFrom: 0, hasRanges: at % 2 === 0 };
            const ours = await ourOutcome(world, await parseQuery(text, base), of);
            if (scans > before) numbered++;
            compared++;
            if (!('error' in ours) && ours.rows.length > 0) withRows++;
            if (await isRight(text, ours)) continue;
            const oracle = await oxigraphOutcome(world, text);
            failures.push(`seed ${seed}, query ${at}, ${name}: ${text}\n  ${writeDifference(ours, oracle)}`);
          } catch (error) {
            if (!(error instanceof TooMuch)) throw error;
          }
      }
    }
    this.test!.title += ` (compared: ${compared}, over numbers: ${numbered}, with rows: ${withRows})`;
    deepStrictEqual(failures, []);
    ok(numbered > compared / 3, `only ${numbered} of ${compared} ran over numbers`);
  });
});
