/**
 * Queries with the constants of random queries replaced, through the cache of shapes, against a parser and a compiler without it.
 * The comment makes a text its own shape.
 */
import { deepStrictEqual, ok } from 'node:assert';
import { parseQuery, type ReadQuery } from '../../lib/query/parse/parse-query.js';
import { bindConstants } from '../../lib/query/plan/bind-constants.js';
import { compileQuery } from '../../lib/query/plan/compile-query.js';
import { NotCompiledError } from '../../lib/query/plan/compile-scope.js';
import {
  type Answer,
  base,
  engineAnswer,
  graphNames,
  queryWithAlgebra,
  type SpecLevel,
  specLevel,
  writeAnswer,
} from '../lib/query/engine-dataset.js';
import { runs } from '../support/speed.js';
import { nodeNames, predicateNames, smallDataset } from './sparql-data.js';
import { prologue, randomQuery } from './sparql-queries.js';
import { Random, write } from './sparql-random.js';

const count = runs(1000);
const readable = new Set(graphNames);

/** Returns the text with other strings and IRIs, some of which are equal to each other, or to a prefixed name that stays. */
function withOthers(text: string, random: Random): string {
  const names = new Map<string, string>();
  const strings = new Map<string, string>();
  const once = (known: Map<string, string>, key: string, make: () => string): string => {
    if (!known.has(key)) known.set(key, make());
    return known.get(key)!;
  };
  return text.replace(/"([^"]*)"|(?<![\w<]):([a-z][\w/]*)/g, (_, string: string | undefined, name: string) =>
    string === undefined
      ? once(names, name, () =>
          random.chance(0.1) ? `:${name}` : `<${base}${random.pick(random.chance(0.7) ? nodeNames : predicateNames)}>`,
        )
      : `"${once(strings, string, () => random.pick([string, 'a', 'b', '12', 'ab c', '2020-01-01T00:00:00Z', '']))}"`,
  );
}

/** Numbers of generated variables differ between two parsers. */
const renumbered = (part: unknown): unknown => {
  const names = new Map<string, string>();
  const text = JSON.stringify(part, (_, value: unknown) => (value instanceof Set ? [...value] : value));
  return JSON.parse(
    text.replace(/"g_\d+"/g, (name) => {
      if (!names.has(name)) names.set(name, `"g#${names.size}"`);
      return names.get(name)!;
    }),
  );
};

const planOf = (make: () => object): unknown => {
  try {
    return renumbered(make());
  } catch (error) {
    if (error instanceof NotCompiledError) return error.message;
    throw error;
  }
};

type Query = Awaited<ReturnType<typeof queryWithAlgebra>>;
const fresh = (text: string): Promise<Query> => queryWithAlgebra(`${text}\n#`);

/** Labels of created blank nodes differ between two executions. */
const written = (answer: Answer): readonly string[] => writeAnswer(answer).map((row) => row.replace(/_:\S+/g, '_:'));

/** Asserts that both have the same algebra and plan. */
async function assertSame(text: string, expected: Query): Promise<Query> {
  const query = await queryWithAlgebra(text);
  deepStrictEqual(renumbered(query.algebra), renumbered(expected.algebra), text);
  for (const key of ['form', 'from', 'variables', 'prefixes', 'base'] as const)
    deepStrictEqual(query[key], expected[key], text);
  const plan = planOf(() => bindConstants(compileQuery(query.shape, base), query.constants));
  deepStrictEqual(
    plan,
    planOf(() => compileQuery(expected.algebra, base)),
    text,
  );
  return query;
}

describe('Shapes of queries', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  it(`return the algebra, plan and results of the full text: ${count} random queries, each with three sets of constants`, async function () {
    this.timeout(0);
    let shared = 0;
    for (let seed = 1; seed <= count; seed++) {
      const random = new Random(seed);
      const { data, isOdd } = smallDataset(random);
      await store.fill(data);
      const text = `${prologue} ${write(randomQuery(random, false, isOdd).text)}`;
      const shapes = new Set<object>();
      for (let variant = 0; variant < 3; variant++) {
        const other = withOthers(text, random);
        const expected = await fresh(other).catch(String);
        if (typeof expected === 'string') {
          deepStrictEqual(await parseQuery(other, base).catch(String), expected, other);
          continue;
        }
        const shaped = await assertSame(other, expected);
        if (shapes.has(shaped.shape)) shared++;
        shapes.add(shaped.shape);
        const answer = (query: ReadQuery): Promise<unknown> =>
          engineAnswer(store.level, { readable, ...query.from }, query).then(written, String);
        deepStrictEqual(await answer(shaped), await answer(expected), `seed ${seed}: ${other}`);
      }
    }
    ok(shared > count / 4, `only ${shared} queries had a known shape`);
  });
});
