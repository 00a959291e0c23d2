/**
 * Random queries with triple terms over random graphs with them, against a naive evaluator: without an index, with the index in
 * memory and in files, and over HTTP as owner and as a caller with partial read access. `QUADPOD_QUERIES` is the number of queries,
 * `QUADPOD_SEED` the seed (`random` searches for new counterexamples). With `QUADPOD_OXIGRAPH`, Oxigraph is the oracle, and the
 * naive evaluator decides where they differ. Faults of Oxigraph 0.5.11: it panics if a filter compares a variable with itself, rejects a label
 * of a blank node in a subquery that occurs outside of it, and EXISTS does not substitute a literal or a triple term for the subject
 * within a triple term.
 */
import { expect } from 'chai';
import { parseQuery } from '../../lib/query/parse/parse-query.js';
import {
  base,
  graphNames,
  rowOf,
  type SpecLevel,
  specLevel,
  type ToMemory,
  withoutIndex,
} from '../lib/query/engine-dataset.js';
import { halfInFiles, halfInMemory, inMemory } from '../lib/query/engine-memory.js';
import { mediaType } from '../support/rdf.js';
import { runs } from '../support/speed.js';
import { readOutcome } from '../w3c/outcomes.js';
import { callers, HttpStorage } from './sparql-http-storage.js';
import {
  areSame,
  graphsOf,
  naiveOutcome,
  type Outcome,
  ourOutcome,
  outcomeOf,
  oxigraphOf,
  oxigraphOutcome,
  TooMuch,
  writeDifference,
} from './sparql-oracles.js';
import { Random, smallest, type Text, write } from './sparql-random.js';
import { tripleTermData, tripleTermQuery } from './triple-terms.js';

const { QUADPOD_QUERIES: wanted = `${runs(300)}`, QUADPOD_SEED: given = '20261129' } = process.env;
const hasOxigraph = process.env['QUADPOD_OXIGRAPH'] !== undefined;
const count = Number(wanted);
const firstSeed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
const queriesOfDataset = 20;
const prologue = `PREFIX : <${base}> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>`;

type Ask = (query: string) => Promise<Outcome>;

/** A way to evaluate a query, and the oracle for its data. */
interface Way {
  readonly name: string;
  readonly ask: Ask;
  readonly oracle: Ask;
  /** Decides if the oracle differs: its faults are counted (default: none). */
  readonly judge?: Ask | undefined;
}

const textOf = (query: Text): string => `${prologue} ${write(query)}`;

/** Counts of verdicts, for the titles. */
class Tally {
  same = 0;
  /** Compared queries with rows. */
  found = 0;
  unchecked = 0;
  errors = 0;
  /** Queries for which the judge disagrees with the oracle. */
  faults = 0;
  readonly failures: string[] = [];

  /** Compares a query in all ways. */
  async compare(ways: readonly Way[], query: Text, where: string): Promise<void> {
    try {
      for (const way of ways) {
        const [found, oracle] = [await way.ask(textOf(query)), await way.oracle(textOf(query))];
        if (way === ways[0]) {
          if ('error' in found) this.errors++;
          else if (found.rows.length > 0) this.found++;
        }
        if (areSame(found, oracle)) continue;
        if (way.judge && areSame(found, await way.judge(textOf(query)))) {
          if (way === ways[0]) this.faults++;
          continue;
        }
        const fails = async (text: Text): Promise<boolean> => !(await isSame(way, textOf(text)));
        const text = `${prologue} ${await smallest(query, (written) => fails(written))}`;
        const difference = writeDifference(await way.ask(text), await way.oracle(text));
        this.failures.push(`${where}, ${way.name}: ${text.slice(prologue.length)}\n  ${difference}`);
        return;
      }
      this.same++;
    } catch (error) {
      if (!(error instanceof TooMuch)) throw error;
      this.unchecked++;
    }
  }

  assertNone(): void {
    if (this.failures.length > 0) throw new Error(`${this.failures.length} queries:\n\n${this.failures.join('\n\n')}`);
    // The share of a few queries varies.
    expect(this.found, 'queries with rows').to.be.above(this.same < 100 ? 0 : this.same / 5);
  }

  get text(): string {
    return `same: ${this.same}, with rows: ${this.found}, not compared: ${this.unchecked}, faults of the oracle: ${this.faults}, errors: ${this.errors}`;
  }
}

async function isSame({ ask, oracle }: Way, query: string): Promise<boolean> {
  return areSame(await ask(query), await oracle(query));
}

const once = (toMemory: ToMemory): ToMemory => {
  let view: ReturnType<ToMemory> | undefined;
  return (level, snapshot) => {
    view ??= toMemory(level, snapshot);
    return view;
  };
};

describe('Queries with triple terms', () => {
  let store: SpecLevel;
  before(async () => {
    store = await specLevel();
  });
  after(() => store.close());

  it(`are evaluated like a naive evaluator does: ${count} from seed ${firstSeed}`, async function () {
    this.timeout(0);
    const tally = new Tally();
    for (let done = 0; done < count; done += queriesOfDataset) {
      const random = new Random(firstSeed + done);
      const data = tripleTermData(random);
      await store.fill(data);
      const readable = random.chance(0.5) ? new Set(graphNames) : new Set(graphNames.slice(0, 1));
      const world = { store, data, readable, oxigraph: oxigraphOf(data, readable) };
      const graphs = graphsOf(data, readable);
      const oracle = hasOxigraph
        ? (query: string) => oxigraphOutcome(world, query)
        : (query: string) => naiveOutcome(query, graphs);
      const ways = Object.entries({
        'no index': once(withoutIndex),
        memory: once((level, snapshot) => inMemory(level, snapshot, [])),
        'memory with changes': once(halfInMemory),
        'files with changes': once(halfInFiles),
      }).map(([name, toMemory]): Way => {
        const ask: Ask = async (query) => {
          const read = await parseQuery(query, base).catch((error: Error) => error);
          return read instanceof Error ? { error: read.message } : ourOutcome(world, read, { toMemory });
        };
        const judge: Ask | undefined = hasOxigraph ? (query) => naiveOutcome(query, graphs) : undefined;
        return { name, ask, oracle, judge };
      });
      for (let at = 0; at < Math.min(queriesOfDataset, count - done); at++)
        await tally.compare(ways, tripleTermQuery(random), `seed ${firstSeed + done}, query ${at}`);
    }
    this.test!.title += ` (${tally.text})`;
    tally.assertNone();
  });
});

describe('Queries with triple terms over HTTP', () => {
  const storage = new HttpStorage();
  before(async function () {
    this.timeout(60_000);
    await storage.open({});
  });
  after(() => storage.close());

  const most = Math.min(count, 200);
  it(`return the rows of readable graphs: ${most} from seed ${firstSeed} (rules 14.1, 14.2)`, async function () {
    this.timeout(0);
    const tally = new Tally();
    for (let done = 0; done < most; done += queriesOfDataset) {
      const random = new Random(firstSeed + done);
      const data = tripleTermData(random);
      const readable = new Set(graphNames.filter(() => random.chance(0.6)));
      const graphs = await storage.fill({ data, readable, linked: new Set() });
      const ways = callers.map((caller): Way => {
        const own = storage.readableBy(caller, graphs);
        const ask: Ask = async (query) => {
          const answer = await storage.ask(storage.named(query), caller, random.chance(0.5));
          if (answer.status !== 200) return { error: `${answer.status} ${answer.text.slice(0, 300)}` };
          const result = await readOutcome(answer.text, mediaType(answer), base);
          if (result.kind === 'boolean') return outcomeOf({ truth: result.value });
          return outcomeOf({ rows: result.kind === 'graph' ? result.quads.map(rowOf) : result.rows });
        };
        return { name: caller, ask, oracle: (query) => naiveOutcome(storage.named(query), own) };
      });
      for (let at = 0; at < Math.min(queriesOfDataset, most - done); at++)
        await tally.compare(ways, tripleTermQuery(random), `seed ${firstSeed + done}, query ${at}`);
    }
    this.test!.title += ` (${tally.text})`;
    tally.assertNone();
  });
});
