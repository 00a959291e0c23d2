/**
 * Runs short queries in the HTTP thread, because a lookup costs less than the round trip to a query thread. The form of a query
 * determines if it qualifies. A query that exceeds the limits restarts in a query thread. Independent of the caller.
 */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { isIri, type TermKey } from '../../../lib/query/access/terms.js';
import type { Algebra } from '../../../lib/query/algebra.js';
import { NeedsIndexError } from '../../../lib/query/dataset.js';
import { MemoryLayers } from '../../../lib/query/memory/memory-layers.js';
import { parseQuery, type ReadQuery } from '../../../lib/query/parse/parse-query.js';
import { nodesOf } from '../../../lib/query/parse/query-scopes.js';
import { loadParser } from '../../../lib/query/parse/sparql-parser.js';
import { loadQueryEngine } from '../../../lib/query/query-engine.js';
import { xsd } from '../../../lib/rdf/vocabulary.js';
import type { Level } from '../../../lib/storage/level/durable-level.js';
import type { RememberedStaged } from '../../../lib/storage/transactions/remembered-staged.js';
import { lruCache } from '../../../lib/tools/caches.js';
import { type Asking, answered } from './answering.js';
import { type Answerer, AskedQuery, type QueryAnswer, type QueryJob, type QueryRules } from './asked-query.js';
import { httpThreadShare } from './http-thread-share.js';
import type { AnswerPart, AskedTask, QueryTask } from './messages.js';
import { maxMs, NotShortError, ShortLimits } from './short-limits.js';

/** Maximum length of the text, in characters. */
const maxLength = 2048;
/** Maximum number of tokens in the text. Parsing takes about 20 µs for each. */
const maxTokens = 400;
const token = /\w+|[^\s\w]/g;
/** Maximum number of parts of the result before the last one. */
const maxParts = 4;
/**
 * Maximum number of quads in graphs that have changed since the index was built, because the HTTP thread must read and sort
 * these itself (`MemoryLayers`).
 */
const maxChanged = 2000;
/**
 * Maximum number of queued queries, and milliseconds in which a query must end, because a query may have to fetch a remote
 * group. More queries use the query threads.
 */
const [maxWaiting, maxWaitMs] = [64, 20];
/**
 * After `maxVain` queries in a row that exceeded the limits, queries of the same form are not tried for `longMs`. After each
 * such query, unprivileged callers pause for `pauseTimes` times the time that the query has used.
 */
const [maxVain, longMs, pauseTimes] = [3, 10_000, 20];

/** Operations whose work is limited by their input rows and by the quads that they read. */
const operations = new Set(
  'project distinct reduced slice orderby group join leftjoin union filter bgp pattern extend values ask construct expression'.split(
    ' ',
  ),
);
/** Maximum number of operations, terms and expressions, because the work for each row grows with it. */
const maxNodes = 100;
/** Functions and aggregates that take constant time for each row. */
const functions = new Set(
  (
    '= != < > <= >= && || ! in notin bound isiri isuri isblank isliteral isnumeric sameterm lang datatype str ' +
    'asc desc if coalesce year month day count sample'
  ).split(' '),
);
/**
 * Functions and aggregates whose time grows with the length of numbers and texts, with the work that each adds to a match or
 * row. A query is not short if it has more than `maxCalculations` of them, or if it has or reads a literal of more than
 * `longestLiteral` characters: a number can have thousands of digits. Results have less than 1000 digits (`exact-digits`).
 */
const calculations: Readonly<Record<string, number>> = {
  '+': 0.5,
  '-': 0.5,
  '*': 2,
  '/': 2,
  sum: 0.5,
  avg: 0.5,
  min: 0.5,
  max: 0.5,
};
const [maxCalculations, castWork, longestLiteral] = [8, 0.5, 128];
const castTypes = new Set(['integer', 'decimal', 'double', 'float', 'boolean'].map((name) => xsd.namespace + name));

interface Node {
  readonly type?: string;
  readonly termType?: string;
  readonly value?: string;
  readonly name?: { readonly value: string };
  readonly subType?: string;
  readonly operator?: string;
  readonly aggregator?: string;
  readonly subject?: { readonly termType: string };
  readonly object?: { readonly termType: string };
  readonly graph?: { readonly termType: string };
}

/** Cached results of `shortWeight` for cached shapes (`parseQuery`). */
const weights = new WeakMap<Algebra.Operation, number | undefined>();

/**
 * Returns the work that a match or row of a query counts as. `undefined` if the query is not short: it has no constant to start
 * from, or an operator that multiplies rows.
 */
function weightOf({ shape, constants }: ReadQuery): number | undefined {
  if (!weights.has(shape)) weights.set(shape, shortWeight(shape));
  const weight = weights.get(shape);
  if (weight === undefined || weight === 1) return weight;
  for (const value of constants.values()) if (value.length > longestLiteral) return undefined;
  return weight;
}

function shortWeight(algebra: Algebra.Operation): number | undefined {
  let begins = false;
  let [nodes, calculated, weight, longest] = [0, 0, 1, 0];
  for (const { type, subType, subject, object, graph, ...of } of nodesOf(algebra, () => true) as Iterable<Node>) {
    // A triple term may need a scan of all triple terms.
    if (type === undefined && of.termType === 'Quad') return undefined;
    if (type === undefined && of.termType === 'Literal') longest = Math.max(longest, of.value!.length);
    if (type === undefined) continue;
    if (++nodes > maxNodes) return undefined;
    if (!operations.has(type)) return undefined;
    const name = subType === undefined || subType === 'term' ? '=' : (of.operator ?? of.aggregator ?? '').toLowerCase();
    const isCast = subType === 'named' && castTypes.has(of.name!.value);
    const work = isCast ? castWork : Object.hasOwn(calculations, name) ? calculations[name]! : 0;
    if (work === 0 && !functions.has(name)) return undefined;
    if (work > 0 && ++calculated > maxCalculations) return undefined;
    weight += work;
    begins ||=
      type === 'pattern' &&
      (subject!.termType !== 'Variable' || object!.termType !== 'Variable' || graph!.termType === 'NamedNode');
  }
  return begins && (calculated === 0 || longest <= longestLiteral) ? weight : undefined;
}

/** Rejects a literal that is too long to calculate with. @throws NotShortError */
function assertShortTerm(token: TermKey): void {
  if (token.length > longestLiteral && !isIri(token)) throw new NotShortError();
}

export interface ShortQueriesOptions {
  readonly storage: string;
  readonly level: () => Level;
  readonly hidden: RememberedStaged;
  /** True if controllers of this storage are the operators of the process. */
  readonly isHome: boolean;
}

export class ShortQueries implements Answerer {
  readonly isReady = true;
  /** Never resolves: the HTTP thread does not exit. */
  readonly exited = new Promise<void>(() => {});
  private readonly layers = new MemoryLayers();
  /** Count of exceeded limits since the last success, by form. 0: the last query may have exceeded the CPU time. */
  private readonly long = lruCache<number>(1000, longMs);
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private ended = 0;
  private strangersAt = 0;
  private isPaused = false;
  /** True while the running query takes longer than `maxWaitMs`, so that it waits for more than the disk. */
  private isStuck = false;
  /** Limits of the running query. */
  private limits = new ShortLimits(false);
  private assertTerm: ((token: TermKey) => void) | undefined;
  /** Count of answered queries. */
  answered = 0;

  private constructor(private readonly options: ShortQueriesOptions) {}

  /** Loads the modules. This blocks the thread for 0.1 s. */
  static async load(options: ShortQueriesOptions): Promise<ShortQueries> {
    await loadQueryEngine();
    await loadParser();
    return new ShortQueries(options);
  }

  /** Runs a query if it is short. Returns `undefined` if it must run in a query thread. @throws LwsError for the client */
  async run(job: QueryJob, rules: QueryRules): Promise<QueryAnswer | undefined> {
    const { task, callerClass } = job;
    const isOperator = callerClass === 'controller' && this.options.isHome;
    if (!this.takes(task, rules) || !(isOperator || httpThreadShare.isLeft)) return undefined;
    const form = task.query.replace(/<[^<>]*>|"[^"]*"|'[^']*'|\d+/g, '');
    const isStranger = callerClass === 'stranger';
    if ((this.long.get(form) ?? 0) >= maxVain || (isStranger && performance.now() < this.strangersAt)) return undefined;
    this.waiting++;
    httpThreadShare.waiting++;
    const { last } = this;
    let done!: () => void;
    this.last = new Promise<void>((resolve) => {
      done = resolve;
    });
    const end = (): void => {
      this.waiting--;
      httpThreadShare.waiting--;
      this.ended++;
      this.isStuck = false;
      done();
    };
    const isOver = (): Promise<boolean> => Promise.race([last.then(() => true), sleep(maxWaitMs, false)]);
    for (let before = this.ended; this.waiting > 1 && !(await isOver()); before = this.ended) {
      if (this.ended !== before) continue;
      this.isStuck = true;
      void last.then(end);
      return undefined;
    }
    // Let other requests run between two queued queries.
    if (this.waiting > 1) await setImmediate();
    const began = performance.now();
    /** Counts a query that exceeded a limit against its form, and makes unprivileged callers pause. */
    const count = (took: number): void => {
      this.long.set(form, (this.long.get(form) ?? 0) + 1);
      if (isStranger) this.strangersAt = began + took + pauseTimes * took;
    };
    try {
      const limits = this.limit(await parseQuery(task.query, task.base, task), this.long.get(form) !== undefined);
      const query = (begun: (answer: QueryAnswer) => void): Promise<void> =>
        new AskedQuery(job, rules, begun).run(this);
      const answer = await new Promise<QueryAnswer>((resolve, reject) => query(resolve).catch(reject));
      this.answered++;
      const took = performance.now() - began;
      if (took > maxMs && limits.isSlow) count(took);
      // A long block may have ended before the CPU time was read. Measure the next query of the form from its start.
      else if (took > maxMs && !limits.isMeasured) this.long.set(form, this.long.get(form) ?? 0);
      else this.long.delete(form);
      return answer;
    } catch (error) {
      if (!(error instanceof NotShortError || error instanceof NeedsIndexError)) throw error;
      count(performance.now() - began);
      return undefined;
    } finally {
      if (!isOperator) httpThreadShare.charge(performance.now() - began);
      end();
    }
  }

  /** Sets the limits of the query that runs. @throws NotShortError */
  private limit(query: ReadQuery, isMeasured: boolean): ShortLimits {
    const weight = weightOf(query);
    if (weight === undefined) throw new NotShortError();
    this.assertTerm = weight === 1 ? undefined : assertShortTerm;
    this.limits = new ShortLimits(isMeasured, weight);
    return this.limits;
  }

  private takes(
    { query, explain, update, past, parameters, timeoutMs, limitedBy }: QueryTask,
    { memory }: QueryRules,
  ): boolean {
    // The timeout of a request may be shorter than a short query: leave such requests to the query threads.
    const hasTimeout = timeoutMs !== undefined && limitedBy === undefined;
    const isPlain = !explain && !update && !past && !hasTimeout && Object.keys(parameters ?? {}).length === 0;
    return (
      isPlain &&
      query.length <= maxLength &&
      (query.match(token)?.length ?? 0) <= maxTokens &&
      this.waiting < maxWaiting &&
      !this.isPaused &&
      !this.isStuck &&
      memory?.isInMemory === true &&
      memory.changedQuads <= maxChanged
    );
  }

  async call(name: string, given: unknown, { answers }: { readonly answers?: unknown } = {}): Promise<never> {
    if (name === 'use') return this.layers.use(given as never) as never;
    const parts: Uint8Array[] = [];
    const asking = {
      moves: [],
      ask: async (question: string, ...about: unknown[]) =>
        (answers as Record<string, (...about: unknown[]) => unknown>)[question]!(...about),
      send: async ({ chunk }: AnswerPart) => {
        parts.push(chunk);
        if (parts.length > maxParts) throw new NotShortError();
      },
    } as unknown as Asking;
    const { limits: own, assertTerm } = this;
    const limits = () => (work?: number) => own.check(work ?? 0);
    const { level, hidden, storage } = this.options;
    const host = { level: level(), hidden, storage, layers: this.layers, limits, assertTerm };
    const last = await answered(host, given as AskedTask, asking);
    return { ...last, chunk: parts.length === 0 ? last.chunk : Buffer.concat([...parts, last.chunk]) } as never;
  }

  /** Resolves when no query is running. Until the returned function is called, queries run in the query threads. */
  async pause(): Promise<() => void> {
    this.isPaused = true;
    await this.last;
    return () => {
      this.isPaused = false;
    };
  }

  end(): Promise<void> {
    return this.exited;
  }
}
