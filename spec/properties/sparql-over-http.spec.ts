/**
 * Random queries over HTTP against a naive evaluator of SPARQL 1.1, section 18: plain and with `timeout`, as owner and as a caller
 * with partial read access. `QUADPOD_QUERIES` is the number of queries,
 * `QUADPOD_SEED` the seed (`random` searches for new counterexamples). The title reports the number of queries without a
 * comparable result.
 */

import type { Term } from '@rdfjs/types';
import { expect } from 'chai';
import { base, graphNames, rowOf, type SpecTriple } from '../lib/query/engine-dataset.js';
import type { Answer } from '../support/http.js';
import { iri, plain } from '../support/naive-sparql/terms.js';
import { mediaType } from '../support/rdf.js';
import { runs } from '../support/speed.js';
import { readOutcome } from '../w3c/outcomes.js';
import { smallDataset } from './sparql-data.js';
import { callers, type HttpDataset, HttpStorage } from './sparql-http-storage.js';
import { areSame, naiveOutcome, type Outcome, outcomeOf, TooMuch, writeDifference } from './sparql-oracles.js';
import { prologue, type RandomQuery, randomQuery } from './sparql-queries.js';
import { Random, smallest, type Text, write } from './sparql-random.js';
import { scopeQuery } from './sparql-scopes.js';

const { QUADPOD_QUERIES: wanted = `${runs(500)}`, QUADPOD_SEED: given = '20261121' } = process.env;
const count = Number(wanted);
const firstSeed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
const queriesOfDataset = 25;
const absent = `${base}graphs/absent`;

const storage = new HttpStorage();

/** Returns a chain of triples through three graphs. The restricted caller can read two of them, and both contain one common triple. */
function chain(): HttpDataset {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => iri(base + name));
  const [p, q] = [iri(`${base}p`), iri(`${base}q`)];
  const triples = (...all: readonly (readonly [Term, Term, Term])[]): SpecTriple[] =>
    all.map(([subject, predicate, object]) => ({ subject, predicate, object }));
  const [one, two, three] = graphNames as [string, string, string];
  const data = new Map([
    [one, triples([a!, p, b!], [b!, q, plain('1')])],
    [two, triples([a!, p, b!], [b!, p, c!], [c!, q, plain('2')])],
    [three, triples([c!, p, d!], [d!, p, a!])],
  ]);
  return { data, readable: new Set([one, two]), linked: new Set([one]) };
}

const [graphA, graphC] = [`<${graphNames[0]}>`, `<${graphNames[2]}>`];
const scopedQueries: readonly string[] = [
  'SELECT * { { ?a :p ?b } UNION { ?a :q ?v } FILTER(?b = :b) }',
  'ASK { { ?a :p ?b } UNION { ?a :q ?v } FILTER(?v = :b) }',
  'SELECT (COUNT(*) AS ?n) { { ?a :p ?b } UNION { ?a :q ?v } FILTER(?b = :b) }',
  'SELECT * { ?a :p ?b . ?b :p ?c FILTER(?misspelled = :b) }',
  'SELECT * { VALUES (?a ?x) { (UNDEF 1) } ?a :p ?b FILTER(?a = :a) }',
  'SELECT * { VALUES (?a ?b) { (:a UNDEF) (UNDEF :c) } ?a :p ?b FILTER(?b != :b) }',
  `SELECT * { GRAPH ${graphA} { ?a :p+ ?b } FILTER(?a = :a) }`,
  `SELECT * { GRAPH ${graphC} { ?a :p* ?b } FILTER(?a = :c) }`,
  'SELECT * { ?a :p* ?b FILTER(?a = :zz) }',
  'SELECT * { GRAPH ?g { ?a :p* ?b } FILTER(?a = :a) }',
  'SELECT ?g ?c { GRAPH ?g { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } }',
  'SELECT * { GRAPH ?g { SELECT ?a { ?a :p ?b } } }',
  'SELECT * { GRAPH ?g { SELECT ?a (COUNT(*) AS ?c) { ?a :p ?b } GROUP BY ?a } }',
  'SELECT * { GRAPH ?g { ?a :p ?b MINUS { ?c :q ?d } } }',
  'SELECT * { GRAPH ?g { ?a :p ?b MINUS { ?b :q ?d } } }',
  'SELECT * { GRAPH ?g { OPTIONAL { ?a :q ?b } } }',
  `SELECT * { GRAPH ${graphC} { SELECT (COUNT(*) AS ?c) { ?s ?p ?o } } }`,
  'SELECT * { { SELECT ?a { ?a :p ?b } VALUES ?b { :b } } }',
  'SELECT * { { SELECT (COUNT(*) AS ?c) { ?a :p ?b } GROUP BY (STR(?a) AS ?k) } }',
  'SELECT * { ?a :p ?b FILTER EXISTS { GRAPH ?g { ?b :p ?c } } }',
  'SELECT ?g ?t { GRAPH ?g { ?s a ?t } }',
];

/** Result with the variables of its head. */
type Result = Outcome & { readonly variables?: readonly string[] };

/** Combination of caller and thread, and the oracle for the data of its caller. */
interface Way {
  readonly name: string;
  readonly ask: (query: string) => Promise<Result>;
  readonly oracle: (query: string) => Promise<Result>;
}

describe('SPARQL over HTTP', () => {
  before(async function () {
    this.timeout(60_000);
    await storage.open({});
  });
  after(() => storage.close());

  it('evaluates queries that optimizers rewrite, and GRAPH around subqueries and MINUS (rules 14.1, 14.2, 14.4)', async function () {
    this.timeout(120_000);
    const ways = await waysOf(chain());
    const failures: string[] = [];
    for (const text of scopedQueries)
      if ((await differing(ways, { text }))?.length !== 0) failures.push(await report(ways, { text }, 'chain'));
    expect(failures.join('\n\n')).to.equal('');
  });

  it(`evaluates random queries according to section 18: ${count} from seed ${firstSeed} (rules 14.1, 14.2, 14.4)`, async function () {
    this.timeout(0);
    const failures: string[] = [];
    let unchecked = 0;
    for (let done = 0; done < count; done += queriesOfDataset) {
      const seed = firstSeed + done;
      for await (const verdict of verdictsOf(seed, Math.min(queriesOfDataset, count - done)))
        if (verdict === 'unchecked') unchecked++;
        else if (verdict !== 'same') failures.push(verdict);
    }
    this.test!.title += ` (not compared: ${unchecked})`;
    if (failures.length > 0) throw new Error(`${failures.length} queries:\n\n${failures.join('\n\n')}`);
  });
});

async function* verdictsOf(seed: number, queries: number): AsyncGenerator<'same' | 'unchecked' | string> {
  const random = new Random(seed);
  const { data, isOdd } = smallDataset(random);
  const some = (chance: number): Set<string> => new Set(graphNames.filter(() => random.chance(chance)));
  const ways = await waysOf({ data, readable: some(0.6), linked: some(0.2) });
  for (let at = 0; at < queries; at++) {
    const query: RandomQuery = random.chance(0.7)
      ? { text: scopeQuery(random, [...graphNames, absent]) }
      : randomQuery(random, false, isOdd);
    const different = await differing(ways, query);
    if (!different) yield 'unchecked';
    else if (different.length === 0) yield 'same';
    else {
      const [first] = different;
      const fails = async (text: Text): Promise<boolean> =>
        (await differing([first!], { ...query, text }))?.length === 1;
      yield await report(ways, { ...query, text: await smallest(query.text, fails) }, `seed ${seed}, query ${at}`);
    }
  }
}

async function waysOf(dataset: HttpDataset): Promise<readonly Way[]> {
  const ways: Way[] = [];
  const graphs = await storage.fill(dataset);
  for (const caller of callers) {
    const store = storage.readableBy(caller, graphs);
    const known = new Map<string, Promise<Result>>();
    const oracle = (query: string): Promise<Result> => {
      const result = known.get(query) ?? naiveOutcome(storage.named(query), store);
      known.set(query, result);
      return result;
    };
    for (const isInThread of [false, true])
      ways.push({
        name: `${caller}${isInThread ? ', timeout=20' : ''}`,
        oracle,
        ask: async (query) => actual(await storage.ask(storage.named(query), caller, isInThread)),
      });
  }
  return ways;
}

async function actual(answer: Answer): Promise<Result> {
  if (answer.status !== 200) return { error: `${answer.status} ${answer.text.slice(0, 300)}` };
  const result = await readOutcome(answer.text, mediaType(answer), base);
  if (result.kind === 'boolean') return outcomeOf({ truth: result.value });
  if (result.kind === 'graph') return outcomeOf({ rows: result.quads.map(rowOf) });
  return { ...outcomeOf({ rows: result.rows }), variables: result.variables };
}

const wholeOf = ({ text }: RandomQuery): string => `${prologue} ${write(text)}`;
const askedOf = (query: RandomQuery): string => query.variation?.of(wholeOf(query)) ?? wholeOf(query);
const names = ({ variables = [] }: Result): string => [...variables].sort().join();

async function isSame(way: Way, query: RandomQuery): Promise<boolean> {
  const [asked, whole] = [askedOf(query), await way.oracle(wholeOf(query))];
  const found = await way.ask(asked);
  if (query.variation) return query.variation.isRight(found, whole);
  return areSame(found, whole) && names(found) === names(whole);
}

/** Returns the ways with a wrong result, or undefined if there is nothing to compare with. */
async function differing(ways: readonly Way[], query: RandomQuery): Promise<readonly Way[] | undefined> {
  try {
    const same = await Promise.all(ways.map((way) => isSame(way, query)));
    return ways.filter((_, at) => !same[at]);
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}

/** Describes the query, the ways with a wrong result, and the first difference from the oracle. */
async function report(ways: readonly Way[], query: RandomQuery, where: string): Promise<string> {
  const wrong = (await differing(ways, query)) ?? [];
  const found = await wrong[0]!.ask(askedOf(query));
  const whole = await wrong[0]!.oracle(wholeOf(query));
  const heads = names(found) === names(whole) ? '' : `(${names(found)}) instead of (${names(whole)}); `;
  const waysOfIt = wrong.length === ways.length ? 'always' : wrong.map(({ name }) => name).join(' | ');
  const asked = askedOf(query).slice(prologue.length).replace(/\s+/g, ' ');
  return `${where}: ${asked}\n  ${waysOfIt}\n  ${heads}${writeDifference(found, whole)}`;
}
