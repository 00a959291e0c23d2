/**
 * Random queries against Oxigraph, and against stock Comunica where Oxigraph says something else: over LevelDB and the index in memory,
 * for callers who may read everything and for some who may not, of whom the oracles know what they may read alone.
 * `QUADPOD_QUERIES` says how many (500), `QUADPOD_QUERY_SEED` where to begin (anywhere; a failure names it).
 */
import { readQuery } from '../../lib/query/parse/read-query.js';
import { base, graphNames, type SpecLevel, specLevel, type ToMemory } from '../lib/query/engine-dataset.js';
import { halfInMemory, inMemory } from '../lib/query/engine-memory.js';
import { largeDataset, type RandomDataset, smallDataset } from './sparql-data.js';
import { isFaultOf } from './sparql-faults.js';
import {
  areSame,
  isSliceOf,
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

const { QUADPOD_QUERIES: wanted = '500', QUADPOD_QUERY_SEED: given } = process.env;
const count = Number(wanted);
const firstSeed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
const queriesOfDataset = 25;

type Engines = readonly (readonly [name: string, toMemory: ToMemory | undefined])[];

/** Over one state: an index is built once. */
function enginesOf(): Engines {
  const once = (toMemory: ToMemory): ToMemory => {
    let view: ReturnType<ToMemory> | undefined;
    return (level, snapshot) => {
      view ??= toMemory(level, snapshot);
      return view;
    };
  };
  return [
    ['LevelDB', undefined],
    ['memory', once((level, snapshot) => inMemory(level, snapshot, []))],
    ['memory with changes', once(halfInMemory)],
  ];
}

interface Scene extends World {
  readonly engines: Engines;
}

describe('Random queries', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  it(`are answered as Oxigraph or Comunica answers them where these are right: ${count} from seed ${firstSeed}`, async function () {
    this.timeout(0);
    const failures: string[] = [];
    for (let done = 0; done < count && failures.length < 20; done += queriesOfDataset)
      failures.push(...(await disagreements(store, firstSeed + done, Math.min(queriesOfDataset, count - done))));
    if (failures.length > 0) throw new Error(`${failures.length} queries or more:\n\n${failures.join('\n\n')}`);
  });
});

async function disagreements(store: SpecLevel, seed: number, queries: number): Promise<string[]> {
  const random = new Random(seed);
  const isLarge = random.chance(0.04);
  const dataset = (isLarge ? largeDataset : smallDataset)(random);
  const readable = new Set(random.chance(0.5) ? graphNames : graphNames.filter(() => random.chance(0.6)));
  await store.fill(dataset.data);
  const world: Scene = {
    engines: enginesOf(),
    store,
    data: dataset.data,
    readable,
    oxigraph: oxigraphOf(dataset.data, readable),
  };
  const failures: string[] = [];
  for (let at = 0; at < queries; at++) {
    const query = randomQuery(random, isLarge, dataset.isOdd);
    const fails = (text: string) => isWrong(world, dataset, { ...query, text });
    if (!(await fails(write(query.text)))) continue;
    const text = await smallest(query.text, fails);
    failures.push(await report(world, { ...query, text }, `seed ${seed}, query ${at}${isLarge ? ', large' : ''}`));
  }
  return failures;
}

async function isWrong(world: Scene, { isOdd }: RandomDataset, query: RandomQuery): Promise<boolean> {
  const whole = `${prologue} ${write(query.text)}`;
  const text = query.slice ? `${whole} LIMIT ${query.slice.limit} OFFSET ${query.slice.offset}` : whole;
  const isRight = (ours: Outcome, all: Outcome): boolean =>
    query.slice ? isSliceOf(ours, all, query.slice) : areSame(ours, all);
  try {
    const ours = await Promise.all(world.engines.map(([, toMemory]) => ourOutcome(world, text, toMemory)));
    const oxigraph = await oxigraphOutcome(world, whole);
    if (ours.every((each) => isRight(each, oxigraph))) return false;
    if (ours.every((each) => 'error' in each)) return !('error' in oxigraph);
    const { algebra, from } = await readQuery(whole, base);
    const asked = { isOdd, algebra, hasFrom: from !== undefined };
    if (!isFaultOf('oxigraph', asked)) return true;
    if (isFaultOf('comunica', asked)) return false;
    const stock = await stockOutcome(world, whole);
    return !ours.every((each) => isRight(each, stock));
  } catch (error) {
    if (error instanceof TooMuch) return false;
    throw error;
  }
}

async function report(world: Scene, { text, slice }: RandomQuery, where: string): Promise<string> {
  const query = `${prologue} ${write(text)}`;
  const lines = [
    `${where}${slice ? `, LIMIT ${slice.limit} OFFSET ${slice.offset}` : ''}: ${write(text).replace(/\s+/g, ' ')}`,
  ];
  const oxigraph = await oxigraphOutcome(world, query);
  for (const [name, toMemory] of world.engines)
    lines.push(`  ${name}: ${writeDifference(await ourOutcome(world, query, toMemory), oxigraph)}`);
  lines.push(`  Comunica: ${writeDifference(await stockOutcome(world, query), oxigraph)}`);
  return lines.join('\n');
}
