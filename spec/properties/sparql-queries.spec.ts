/**
 * Random queries against Oxigraph. For its known faults, the oracle is the naive evaluator of SPARQL 1.1, section 18, and over
 * large graphs stock Comunica. Queries run over LevelDB and the in-memory index, for callers with full and with partial read
 * access. The oracles contain the readable data only. `QUADPOD_QUERIES` is the number of queries (500), `QUADPOD_QUERY_SEED` the
 * first seed (default 1, `any` for a random one). A failure names the seed of its dataset. The title reports the number of
 * queries for each oracle, and without one.
 */
import { parseQuery, type ReadQuery } from '../../lib/query/parse/parse-query.js';
import {
  base,
  graphNames,
  queryWithAlgebra,
  type SpecLevel,
  specLevel,
  type ToMemory,
  withoutIndex,
} from '../lib/query/engine-dataset.js';
import { halfInFiles, halfInMemory, inMemory } from '../lib/query/engine-memory.js';
import type { GraphStore } from '../support/naive-sparql/index.js';
import { runs } from '../support/speed.js';
import { largeDataset, type RandomDataset, smallDataset } from './sparql-data.js';
import { isFaultOf } from './sparql-faults.js';
import {
  areSame,
  graphsOf,
  isGivenUp,
  isLate,
  naiveOutcome,
  type Outcome,
  ourOutcome,
  oxigraphOf,
  oxigraphOutcome,
  stockOutcome,
  TooMuch,
  type World,
  writeDifference,
} from './sparql-oracles.js';
import { prologue, type RandomQuery, randomQuery } from './sparql-queries.js';
import { Random, smallest, write } from './sparql-random.js';

const { QUADPOD_QUERIES: wanted = `${runs(500)}`, QUADPOD_QUERY_SEED: given } = process.env;
const count = Number(wanted);
const firstSeed = given === 'any' ? Math.floor(Math.random() * 2 ** 31) : Number(given ?? 1);
const queriesOfDataset = 25;

type Engines = readonly (readonly [name: string, toMemory: ToMemory, numbersFrom?: number])[];

/** Engines over one state. Each index is built once. */
function enginesOf(): Engines {
  const once = (toMemory: ToMemory): ToMemory => {
    let view: ReturnType<ToMemory> | undefined;
    return (level, snapshot) => {
      view ??= toMemory(level, snapshot);
      return view;
    };
  };
  return [
    ['no index', once(withoutIndex)],
    ['memory', once((level, snapshot) => inMemory(level, snapshot, []))],
    ['memory with changes', once(halfInMemory)],
    ['files with changes', once(halfInFiles)],
    ['numbers', once((level, snapshot) => inMemory(level, snapshot, [])), 0],
    ['numbers of files with changes', once(halfInFiles), 0],
  ];
}

interface Scene extends World {
  readonly engines: Engines;
  readonly dataset: RandomDataset;
  readonly isLarge: boolean;
  /** Data of the naive evaluator. */
  readonly graphs: GraphStore;
}

/** Oracle of a comparison, or the reason for its absence. */
type Verdict =
  | 'Oxigraph'
  | 'section 18'
  | 'Comunica'
  | 'both refuse'
  | 'unchecked: too much'
  | 'unchecked: both may be wrong'
  | 'wrong';

describe('Random queries', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  it(`return the results of Oxigraph, or of section 18 for its known faults: ${count} from seed ${firstSeed}`, async function () {
    this.timeout(0);
    const failures: string[] = [];
    const verdicts = new Map<Verdict, number>();
    for (let done = 0; done < count; done += queriesOfDataset) {
      const seed = firstSeed + done;
      for await (const [verdict, failure] of verdictsOf(store, seed, Math.min(queriesOfDataset, count - done))) {
        verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
        if (failure) failures.push(failure);
      }
    }
    this.test!.title += ` (${[...verdicts].map(([verdict, times]) => `${verdict}: ${times}`).join(', ')})`;
    if (failures.length > 0) throw new Error(`${failures.length} queries:\n\n${failures.join('\n\n')}`);
  });
});

async function* verdictsOf(
  store: SpecLevel,
  seed: number,
  queries: number,
): AsyncGenerator<readonly [verdict: Verdict, failure?: string]> {
  const random = new Random(seed);
  const isLarge = random.chance(0.04);
  const dataset = (isLarge ? largeDataset : smallDataset)(random);
  const readable = new Set(random.chance(0.5) ? graphNames : graphNames.filter(() => random.chance(0.6)));
  await store.fill(dataset.data);
  const { data } = dataset;
  const [oxigraph, graphs] = [oxigraphOf(data, readable), graphsOf(data, readable)];
  const scene: Scene = { engines: enginesOf(), dataset, isLarge, graphs, store, data, readable, oxigraph };
  for (let at = 0; at < queries; at++) {
    const query = randomQuery(random, isLarge, dataset.isOdd);
    const verdict = await judge(scene, query);
    if (verdict !== 'wrong') yield [verdict];
    else {
      const isWrong = async (text: string): Promise<boolean> => (await judge(scene, { ...query, text })) === 'wrong';
      const text = await smallest(query.text, isWrong);
      yield [verdict, await report(scene, { ...query, text }, `seed ${seed}, query ${at}${isLarge ? ', large' : ''}`)];
    }
  }
}

async function judge(scene: Scene, query: RandomQuery): Promise<Verdict> {
  try {
    return await verdictOf(scene, query);
  } catch (error) {
    if (error instanceof TooMuch) return 'unchecked: too much';
    throw error;
  }
}

const wholeOf = ({ text }: RandomQuery): string => `${prologue} ${write(text)}`;

async function verdictOf(scene: Scene, query: RandomQuery): Promise<Verdict> {
  const whole = wholeOf(query);
  const ours = await ourOutcomes(scene, query);
  const isRight = (answer: Outcome): boolean =>
    ours.every((each) => (query.variation ? query.variation.isRight(each, answer) : areSame(each, answer)));
  const oxigraph = await oxigraphOutcome(scene, whole);
  if (isRight(oxigraph)) return 'error' in oxigraph ? 'both refuse' : 'Oxigraph';
  if (ours.every((each) => 'error' in each)) return 'wrong';
  const { algebra, from } = await queryWithAlgebra(whole);
  const asked = { isOdd: scene.dataset.isOdd, algebra, hasFrom: from !== undefined };
  if (!isFaultOf('oxigraph', asked)) return 'wrong';
  if (!scene.isLarge) return isRight(await naiveOutcome(whole, scene.graphs)) ? 'section 18' : 'wrong';
  const stock = await stockOutcome(scene, whole);
  if (isRight(stock)) return 'Comunica';
  if (isLate(stock)) return 'unchecked: too much';
  return isFaultOf('comunica', asked) || isGivenUp(stock) ? 'unchecked: both may be wrong' : 'wrong';
}

async function ourOutcomes(scene: Scene, query: RandomQuery): Promise<readonly Outcome[]> {
  const whole = wholeOf(query);
  let read: ReadQuery;
  try {
    read = await parseQuery(query.variation?.of(whole) ?? whole, base);
  } catch (error) {
    return [{ error: String(error).slice(0, 300) }];
  }
  const outcomes: Outcome[] = [];
  for (const [, toMemory, numbersFrom] of scene.engines)
    outcomes.push(await ourOutcome(scene, read, { toMemory, numbersFrom }));
  return outcomes;
}

async function report(scene: Scene, query: RandomQuery, where: string): Promise<string> {
  const whole = wholeOf(query);
  const { variation, text } = query;
  const asked = variation ? variation.of(write(text)) : write(text);
  const lines = [`${where}: ${asked.replace(/\s+/g, ' ')}`];
  const oxigraph = await oxigraphOutcome(scene, whole);
  const ours = await ourOutcomes(scene, query);
  lines.push(...ours.map((each, at) => `  ${scene.engines[at]![0]}: ${writeDifference(each, oxigraph)}`));
  lines.push(`  Comunica: ${writeDifference(await stockOutcome(scene, whole), oxigraph)}`);
  return lines.join('\n');
}
