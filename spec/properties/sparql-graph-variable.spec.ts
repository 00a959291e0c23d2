/**
 * `GRAPH ?g { P }` has the solutions of P with each named graph in turn as default graph, joined with the graph name (SPARQL 1.1,
 * 18.6). Random groups without ?g in FILTER, BIND and EXISTS (rule 14.14).
 */
import { expect } from 'chai';
import { Parser } from 'n3';
import { LwsError } from '../../lib/tools/errors.js';
import {
  engineAnswer,
  graphNames,
  type SpecData,
  type SpecLevel,
  specLevel,
  withoutIndex,
} from '../lib/query/engine-dataset.js';
import { halfInMemory } from '../lib/query/engine-memory.js';
import { runs } from '../support/speed.js';
import { Random } from './sparql-random.js';

const e = 'http://e.example/';
const names = graphNames.slice(0, 4);

/** Returns three graphs with a few triples, and an empty one. */
function randomData(random: Random): SpecData {
  const node = (): string => random.pick([`<${e}x>`, `<${e}y>`, `<${e}z>`, `<${names[0]}>`, `<${names[1]}>`]);
  const triple = (): string =>
    `${node()} <${e}${random.pick(['p', 'q'])}> ${random.pick([node(), node(), '1', '2'])} .`;
  const texts = [...names.slice(1).map(() => random.some(1, 6, triple).join('\n')), ''];
  return new Map(names.map((name, at) => [name, new Parser().parse(texts[at]!)]));
}

/** Random groups. Groups of expressions do not contain ?g. */
class Groups {
  private count = 0;

  constructor(
    private readonly random: Random,
    private readonly hasName = true,
  ) {}

  private variable = (): string => this.random.pick(['?a', '?b', '?c', ...(this.hasName ? ['?g'] : [])]);
  private term = (): string => this.random.pick([`<${e}x>`, `<${e}y>`, `<${names[1]}>`]);
  private end = (): string => (this.random.chance(0.75) ? this.variable() : this.term());
  private step = (): string => `<${e}${this.random.pick(['p', 'q'])}>`;

  private triple = (): string => {
    const path = this.random.either([
      [6, this.step],
      [1, () => '?b'],
      [1, () => `${this.step()}*`],
      [1, () => `${this.step()}?`],
      [1, () => `(${this.step()}|^${this.step()})+`],
    ]);
    return `${this.end()} ${path} ${this.end()} .`;
  };

  private values = (): string => {
    const value = (): string => this.random.pick([this.term(), 'UNDEF', '1']);
    const rows = this.random.some(1, 2, () => `(${value()} ${value()})`);
    return `VALUES (?a ${this.hasName ? '?g' : '?b'}) { ${rows.join(' ')} }`;
  };

  private condition = (): string =>
    this.random.pick(['BOUND(?a)', '!BOUND(?b)', 'ISIRI(?a)', '?a = ?b', `?b != <${e}x>`, 'ISLITERAL(?c) || ?a != ?c']);

  private subquery = (depth: number): string => {
    const inner = this.group(depth - 1);
    const listed = this.random.pick(['?a', '?a ?b', ...(this.hasName ? ['?g ?a'] : [])]);
    return this.random.pick([
      `{ SELECT ${listed} { ${inner} } }`,
      `{ SELECT DISTINCT ${listed} { ${inner} } }`,
      `{ SELECT DISTINCT ${listed} { ${inner} } ORDER BY ${listed} LIMIT 2 }`,
      `{ SELECT DISTINCT ${listed} { ${inner} } ORDER BY ${listed} OFFSET 1 }`,
      `{ SELECT (COUNT(*) AS ?n${this.count++}) { ${inner} } }`,
      `{ SELECT ?a (COUNT(?b) AS ?n${this.count++}) { ${inner} } GROUP BY ?a }`,
      `{ SELECT (COUNT(DISTINCT ?b) AS ?n${this.count++}) { ${inner} } HAVING (COUNT(*) < 3) }`,
    ]);
  };

  private existence = (depth: number): string =>
    `FILTER ${this.random.pick(['', 'NOT '])}EXISTS { ${new Groups(this.random, false).group(depth - 1)} }`;

  private part = (depth: number): string => {
    const group = (): string => `{ ${this.group(depth - 1)} }`;
    if (depth === 0) return this.triple();
    return this.random.either([
      [8, this.triple],
      [2, () => `OPTIONAL ${group()}`],
      [2, () => `${group()} UNION ${group()}`],
      [2, () => `MINUS ${group()}`],
      [1, this.values],
      [1, () => `FILTER(${this.condition()})`],
      [1, () => this.existence(depth)],
      [1, () => `BIND(?a AS ?m${this.count++})`],
      [3, () => this.subquery(depth)],
      [1, () => `GRAPH ${this.random.pick(['?h', `<${names[2]}>`, ...(this.hasName ? ['?g'] : [])])} ${group()}`],
      [1, group],
    ]);
  };

  group(depth: number): string {
    return this.random.some(1, 3, () => this.part(depth)).join(' ');
  }
}

type Row = ReadonlyMap<string, { readonly value: string }>;
const rowText = (row: Row): string =>
  [...row]
    .map(([name, { value }]) => `${name}=${value}`)
    .sort()
    .join(' ');

describe('GRAPH with a variable', function () {
  this.timeout(120_000);
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  it('has the solutions of its group in each graph (SPARQL 1.1, 18.6)', async () => {
    const first = Number(process.env['QUADPOD_SEED']) || 20261127;
    let [compared, withRows] = [0, 0];
    for (let at = 0; at < runs(1000); at++) {
      const random = new Random(
        process.env['QUADPOD_SEED'] === 'random' ? Math.floor(Math.random() * 2 ** 31) : first + at,
      );
      if (at % 25 === 0) await store.fill(randomData(random));
      const group = new Groups(random).group(3);
      const readable = new Set(graphNames);
      const all = { readable, namedGraphs: names };
      const rowsOf = async (query: string, defaultGraphs: readonly string[], isInMemory: boolean): Promise<Row[]> => {
        const view = { ...all, defaultGraphs };
        const answer = await engineAnswer(store.level, view, query, isInMemory ? halfInMemory : withoutIndex);
        return 'rows' in answer ? [...answer.rows] : [];
      };
      const expected: string[] = [];
      try {
        for (const name of names)
          for (const row of await rowsOf(`SELECT * { ${group} }`, [name], false))
            if ((row.get('g')?.value ?? name) === name)
              expected.push(rowText(new Map([...row, ['g', { value: name }]])));
      } catch (error) {
        // For example, a variable assigned twice.
        if (error instanceof LwsError && error.code === 'malformed-query') continue;
        throw error;
      }
      for (const isInMemory of [false, true]) {
        const rows = await rowsOf(`SELECT * { GRAPH ?g { ${group} } }`, [], isInMemory);
        expect(rows.map(rowText).sort(), group).to.deep.equal([...expected].sort());
      }
      compared++;
      if (expected.length > 0) withRows++;
    }
    expect(compared).to.be.above(runs(600));
    expect(withRows).to.be.above(compared / 3);
  });
});
