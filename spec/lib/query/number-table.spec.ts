/** Tables of numbers, and the limits of plans over them. */
import type { Term } from '@rdfjs/types';
import { expect } from 'chai';
import type { TermKey } from '../../../lib/query/access/terms.js';
import type { Execution } from '../../../lib/query/operators/execution.js';
import { KeyedLists } from '../../../lib/query/operators/keyed-lists.js';
import { JoinTable, NumberTable } from '../../../lib/query/operators/number-table.js';
import { NumberedPlan } from '../../../lib/query/operators/numbered-plan.js';
import { merged, runsOf } from '../../../lib/query/operators/numbered-rows.js';
import type { LwsError } from '../../../lib/tools/errors.js';
import { largeDataset } from '../../properties/sparql-data.js';
import { Random } from '../../properties/sparql-random.js';
import { base, engineAnswer, graphNames, specLevel, writeAnswer } from './engine-dataset.js';
import { inMemory } from './engine-memory.js';

const most = 5000;

describe('Table of numbers', () => {
  for (const [width, direct] of [
    [0, 0],
    [1, 0],
    [1, 2500],
    [1, most],
    [2, most],
    [3, 0],
  ] as const)
    it(`numbers ${width} columns in order of arrival, like a map (direct below ${direct})`, () => {
      const random = new Random(width * 10 + direct);
      const table = new NumberTable({ width, direct, allocate: () => {} });
      const model = new Map<string, number>();
      const rows = 20_000;
      // Some numbers are those of unbound variables and of terms in no quad.
      const number = (): number => (random.chance(0.05) ? 2 ** 32 - 1 - random.below(3) : random.below(most));
      const columns = Array.from({ length: width }, () => Uint32Array.from({ length: rows }, number));
      for (let row = 0; row < rows; row++) {
        const key = columns.map((column) => column[row]!).join();
        expect(table.find(columns, row), key).to.equal(model.get(key) ?? -1);
        if (random.chance(0.3)) continue;
        if (!model.has(key)) model.set(key, model.size);
        expect(table.add(columns, row), key).to.equal(model.get(key));
      }
      expect(table.size).to.equal(model.size);
      const found = Array.from({ length: table.size }, (_, entry) => table.keys.map((key) => key[entry]!).join());
      expect(found).to.deep.equal([...model.keys()]);
    });

  for (const [width, direct] of [
    [1, 0],
    [1, 2500],
    [1, most],
    [2, most],
  ] as const)
    it(`sums weights by ${width} columns if rows are not kept (direct below ${direct})`, () => {
      const random = new Random(width * 10 + direct);
      let charged = 0;
      const allocate = (bytes: number): void => {
        charged += bytes;
      };
      const table = new JoinTable({ width, direct, allocate }, 0);
      const model = new Map<string, number>();
      const length = 20_000;
      const number = (): number => (random.chance(0.05) ? 2 ** 32 - 1 - random.below(3) : random.below(most));
      const columns = Array.from({ length: width }, () => Uint32Array.from({ length }, number));
      const weights = Float64Array.from({ length }, () => random.below(4));
      const keyOf = (row: number): string => columns.map((column) => column[row]!).join();
      table.add(columns, [], { length: length / 2, weights });
      for (let row = 0; row < length / 2; row++) model.set(keyOf(row), (model.get(keyOf(row)) ?? 0) + weights[row]!);
      for (let row = 0; row < length; row++)
        expect(table.weightOf(columns, row), keyOf(row)).to.equal(model.get(keyOf(row)) ?? 0);
      expect(charged).to.be.above(direct === 0 ? 0 : direct);
    });

  it('merges equal rows of a batch without losing a weight while it grows', () => {
    const length = 3000;
    const [a, b] = [(row: number) => row % 500, (row: number) => row % 700];
    const columns = [
      Uint32Array.from({ length }, (_, row) => a(row)),
      undefined,
      Uint32Array.from({ length }, (_, row) => b(row)),
    ];
    const weights = Float64Array.from({ length }, (_, row) => 1 + (row % 3));
    const wanted = new Map<string, number>();
    for (let row = 0; row < length; row++) {
      const key = `${a(row)} ${b(row)}`;
      wanted.set(key, (wanted.get(key) ?? 0) + weights[row]!);
    }
    const found = merged({ length, columns, weights });
    const sums = Array.from(
      { length: found.length },
      (_, row) => [`${found.columns[0]![row]} ${found.columns[2]![row]}`, found.weights![row]] as const,
    );
    expect(new Map(sums)).to.deep.equal(wanted);
  });

  it('merges runs of a column into weights if that halves the rows, and keeps other columns', () => {
    const random = new Random(11);
    for (const mean of [1, 2, 3, 50]) {
      const column = Uint32Array.from(
        { length: 4000 },
        (_, row) => Math.floor(row / mean) + (random.chance(0.1) ? 9 : 0),
      );
      const { length, columns, weights } = runsOf(2, column);
      expect(columns[2]!.length).to.equal(length);
      expect(weights === undefined, `runs of ${mean}`).to.equal(mean <= 2);
      const again = Array.from(columns[2]!).flatMap((value, row) => Array<number>(weights?.[row] ?? 1).fill(value));
      expect(again).to.deep.equal(Array.from(column));
    }
    expect(runsOf(0, new Uint32Array(0)).length).to.equal(0);
  });

  for (const width of [0, 1, 2, 3])
    it(`lists items by ${width} terms, of which some are unbound, like a map`, () => {
      const random = new Random(width);
      const lists = new KeyedLists<number>(width);
      const model = new Map<string, number[]>();
      const at = [3, 0, 2].slice(0, width);
      const row = (): (TermKey | undefined)[] =>
        Array.from({ length: 4 }, () => (random.chance(0.2) ? undefined : (`urn:${random.below(6)}` as TermKey)));
      const keyOf = (terms: readonly unknown[]): string => at.map((each) => terms[each] ?? '-').join();
      for (let item = 0; item < 500; item++) {
        const terms = row();
        lists.add(terms, at, item);
        model.set(keyOf(terms), [...(model.get(keyOf(terms)) ?? []), item]);
      }
      expect(lists.size).to.equal(model.size);
      expect([...lists.values()].map(String).sort()).to.deep.equal([...model.values()].map(String).sort());
      for (let i = 0; i < 200; i++) {
        const terms = row();
        expect(lists.get(terms, at)).to.deep.equal(model.get(keyOf(terms)));
      }
    });

  it('charges the memory that it takes, and stops where the charge is refused', () => {
    let charged = 0;
    const numbers = Uint32Array.from({ length: 100_000 }, (_, at) => at);
    const tableOf = (allocate: (bytes: number) => void, direct: number): JoinTable => {
      const table = new JoinTable({ width: 1, direct, allocate }, 1);
      table.add([numbers], [numbers], { length: numbers.length, weights: undefined });
      return table;
    };
    for (const direct of [0, numbers.length]) {
      charged = 0;
      const { entries, columns, rowWeights, first, next } = tableOf((bytes) => {
        charged += bytes;
      }, direct);
      const arrays = [...entries.keys, entries.weights, ...columns, rowWeights, first, next];
      const taken = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
      // The smallest tables are free.
      expect(charged).to.be.above(0.9 * taken);
      const refuse = (): never => {
        throw new Error('refused');
      };
      expect(() => tableOf(refuse, direct)).to.throw('refused');
      expect(() =>
        new JoinTable({ width: 1, direct, allocate: refuse }, 0).add([numbers], [], {
          length: numbers.length,
          weights: undefined,
        }),
      ).to.throw('refused');
    }
  });
});

describe('Plan over numbers', () => {
  it('ends with query-limit if its tables take too much memory', () => {
    const plan = new NumberedPlan({ assertTime: () => {} } as unknown as Execution, {} as never, () => {
      throw new Error('not run');
    });
    plan.allocate(1 << 20);
    try {
      plan.allocate(2 ** 40);
      expect.fail('was not refused');
    } catch (error) {
      expect((error as LwsError).code).to.equal('query-limit');
    }
  });

  it('ends at every check of the time', async () => {
    const store = await specLevel();
    await store.fill(largeDataset(new Random(1)).data);
    const text = `PREFIX : <http://example.org/> SELECT ?b (COUNT(DISTINCT ?a) AS ?n) (MAX(STR(?c)) AS ?m)
      { ?a :p ?b . { ?a :q ?c } UNION { ?a :s ?c } OPTIONAL { ?a :r ?d } MINUS { ?b :r :c } FILTER(?b != ?c) } GROUP BY ?b`;
    let calls = 0;
    let last = Number.POSITIVE_INFINITY;
    const answer = (): Promise<unknown> => {
      calls = 0;
      const assertTime = (): void => {
        if (++calls >= last) throw new Error('stopped');
      };
      const view = { readable: new Set(graphNames), numbersFrom: 0, assertTime };
      return engineAnswer(store.level, view, text, (level, snapshot) => inMemory(level, snapshot, []));
    };
    await answer();
    const all = calls;
    expect(all).to.be.above(10);
    for (last = 1; last <= all; last++)
      expect(await answer().catch((error: Error) => error.message), `at ${last} of ${all}`).to.equal('stopped');
    await store.close();
  });

  it('agree with rows for a path of length zero in EXISTS, and count through a hub in time', async () => {
    const store = await specLevel();
    const term = (value: string) => ({ termType: 'NamedNode', value: `http://example.org/${value}` }) as Term;
    const triple = (subject: string, predicate: string, object: string) => ({
      subject: term(subject),
      predicate: term(predicate),
      object: term(object),
    });
    const all = (length: number, of: (at: number) => ReturnType<typeof triple>) =>
      Array.from({ length }, (_, at) => of(at));
    await store.fill(
      new Map([
        [
          graphNames[0]!,
          [
            ...all(3000, (at) => triple(`x${at}`, 'is', 'C')),
            ...all(3000, (at) => triple(`x${at}`, 'is', 'D')),
            ...all(9000, (at) => triple(`r${at}`, 'r', 'hub')),
            ...all(9000, (at) => triple('hub', 's', `x${at}`)),
          ],
        ],
        [graphNames[1]!, [triple('other', 'other', 'other')]],
      ]),
    );
    const count = async (pattern: string, numbersFrom: number): Promise<string> => {
      const view = { readable: new Set(graphNames), numbersFrom };
      const text = `PREFIX : <http://example.org/> SELECT (COUNT(*) AS ?n) { ${pattern} }`;
      const rows = await engineAnswer(store.level, view, text, (level, snapshot) => inMemory(level, snapshot, []));
      return writeAnswer(rows).join();
    };
    for (const pattern of [
      `?x :is :C FILTER EXISTS { GRAPH <${graphNames[1]}> { ?x :pp* ?y } ?y :is :D }`,
      `?x :is :C FILTER NOT EXISTS { GRAPH <${graphNames[1]}> { ?x :pp* ?y } ?y :is :D }`,
      '?x :is :C OPTIONAL { ?x :pp* ?y . ?y :is :D }',
    ])
      expect(await count(pattern, 0), pattern).to.equal(await count(pattern, Number.POSITIVE_INFINITY));
    // Nine thousand equal rows with as many matches each.
    expect(await count('?x :is :C FILTER EXISTS { ?b :r ?k . ?k :s ?x }', 0)).to.contain('3000');
    expect(await count('?b :r ?k . ?k :s ?x . ?x :is :C', 0)).to.contain('27000000');
    const error = await count(Array.from({ length: 5 }, (_, at) => `?a${at} :r ?k`).join(' . '), 0).catch(
      (thrown: LwsError) => thrown.code,
    );
    expect(error).to.equal('query-limit');
    await store.close();
  });

  it('has the first groups of an order by a COUNT and by further keys', async () => {
    const store = await specLevel();
    const sizes = Array.from({ length: 60 }, (_, at) => 1 + ((at * 7) % 4));
    const iri = (name: string): Term => ({ termType: 'NamedNode', value: `${base}${name}` }) as Term;
    const triples = sizes.flatMap((size, at) =>
      Array.from({ length: size }, (_, i) => ({
        subject: iri(`s${at}`),
        predicate: iri('p'),
        object: iri(`o${i}`),
      })),
    );
    await store.fill(new Map([[graphNames[0]!, triples]]));
    for (const [direction, sign] of [
      ['ASC', 1],
      ['DESC', -1],
    ] as const)
      for (const limit of [1, 7, 15, 16, 40, 59]) {
        const text = `SELECT ?s (COUNT(*) AS ?n) { ?s <${base}p> ?o } GROUP BY ?s ORDER BY ${direction}(?n) DESC(?s) LIMIT ${limit}`;
        const expected = sizes
          .map((size, at) => ({ size, name: `${base}s${at}` }))
          .sort((a, b) => sign * (a.size - b.size) || (a.name < b.name ? 1 : -1))
          .slice(0, limit)
          .map(({ size, name }) => `${name} ${size}`);
        const view = { readable: new Set(graphNames), numbersFrom: 0 };
        const answer = await engineAnswer(store.level, view, text, (level, snapshot) => inMemory(level, snapshot, []));
        const rows = 'rows' in answer ? answer.rows : [];
        expect(rows.map((row) => `${row.get('s')!.value} ${row.get('n')!.value}`)).to.deep.equal(expected);
      }
    await store.close();
  });
});
