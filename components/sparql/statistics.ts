/**
 * How much there is in what a caller may read: triples, classes and predicates, counted by a query of that caller's, so that no
 * count tells of anything else. Nobody waits for it for long. It must not know HTTP.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Client } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import type { QueryPool } from './pool/query-pool.js';
import { resultFormats } from './protocol.js';

/** A class or predicate, and in how many triples it is. */
export type Counted = readonly [iri: string, count: number];

export interface Statistics {
  readonly triples: number;
  readonly properties: number;
  readonly classes: number;
  /** The most frequent ones. */
  readonly byProperty: readonly Counted[];
  readonly byClass: readonly Counted[];
}

export interface Counting {
  readonly access: Access;
  readonly client: Client;
  /** Who asked is not there any more. */
  readonly gone: AbortSignal;
}

const mostListed = 1_000;
/** One scan for each; of one snapshot. */
const query = `SELECT * {
  { SELECT (COUNT(*) AS ?triples) (COUNT(DISTINCT ?p) AS ?properties) { ?s ?p ?o } }
  UNION { SELECT (COUNT(DISTINCT ?c) AS ?classes) { ?s a ?c } }
  UNION { SELECT ?property (COUNT(*) AS ?n) { ?s ?property ?o } GROUP BY ?property ORDER BY DESC(?n) ?property LIMIT ${mostListed} }
  UNION { SELECT ?class (COUNT(*) AS ?n) { ?s a ?class FILTER(isIRI(?class)) } GROUP BY ?class ORDER BY DESC(?n) ?class LIMIT ${mostListed} }
}`;
const mostBytes = 4 << 20;
/** Milliseconds that an answer waits for counts that are on their way. */
const waitMs = 40;
/** What everybody reads is not counted again before so many times as long have passed as it took. */
const pauseTimes = 20;
/** Milliseconds until counting is tried again where it took too long or failed. */
const retryMs = 600_000;
/** Counts of callers who read a part, until the next commit. */
const mostKept = 200;

export class CountedStatistics {
  /** Of everything: also when it is older than the last commit, since it tells nobody of what is hidden. */
  private ofAll: { readonly found: Statistics; readonly version: number } | undefined;
  private nextAt = 0;
  private readonly ofParts = new LRUCache<string, { readonly found: Statistics; readonly version: number }>({
    max: mostKept,
  });
  private readonly underWay = new Map<string, Promise<Statistics | undefined>>();
  private version = 0;

  constructor(
    private readonly house: House,
    private readonly pool: QueryPool,
  ) {
    house.store.onCommit(() => {
      this.version++;
    });
  }

  /** What there is for a caller; `undefined` when it cannot be said at once. */
  async of(counting: Counting): Promise<Statistics | undefined> {
    const scope = await this.house.authorizer.readScope(counting.access);
    if (scope === 'nothing') return nothing;
    // Each resource would have to be decided, also for what was counted before.
    if (scope === 'decide') return undefined;
    if (scope === 'everything') return this.everything();
    const key = createHash('sha256').update(JSON.stringify(scope)).digest('base64');
    const known = this.ofParts.get(key);
    if (known?.version === this.version) return known.found;
    const { version } = this;
    return this.inTime(key, async () => {
      const found = await this.count(counting);
      this.ofParts.set(key, { found, version });
      return found;
    });
  }

  private async everything(): Promise<Statistics | undefined> {
    const { ofAll: known, version } = this;
    if (known?.version === version || (Date.now() < this.nextAt && !this.underWay.has(''))) return known?.found;
    const counted = await this.inTime('', async () => {
      const began = Date.now();
      this.nextAt = began + retryMs;
      const found = await this.count(undefined);
      this.ofAll = { found, version };
      this.nextAt = Date.now() + pauseTimes * (Date.now() - began);
      return found;
    });
    return counted ?? known?.found;
  }

  /** Those who ask for the same wait for one count, a moment at most. */
  private async inTime(key: string, count: () => Promise<Statistics>): Promise<Statistics | undefined> {
    let counting = this.underWay.get(key);
    if (!counting) {
      counting = count()
        .catch((error: unknown) => {
          // A limit, or a server that has other things to do; the description goes without.
          if (!(error instanceof LwsError)) this.house.log.warn({ err: error }, 'what there is could not be counted');
          return undefined;
        })
        .finally(() => this.underWay.delete(key));
      this.underWay.set(key, counting);
    }
    return Promise.race([counting, sleep(waitMs, undefined, { ref: false })]);
  }

  /** @param by whose part it is; absent: everything, at the server's own cost */
  private async count(by: Counting | undefined): Promise<Statistics> {
    const { authorizer, store, storage } = this.house;
    const { body } = await this.pool.run({
      task: {
        query,
        base: storage,
        formats: { results: resultFormats[0] },
        maxResults: 2 * mostListed + 2,
        maxBytes: mostBytes,
        allowedServices: [],
      },
      ...(by?.client ?? { standing: 'known', client: 'statistics' }),
      scope: async () => (by ? authorizer.readScope(by.access) : 'everything'),
      gone: by?.gone ?? new AbortController().signal,
      decide: (iris) =>
        Promise.all(iris.map((iri) => !by || authorizer.allows({ view: store, access: by.access, mode: 'read', iri }))),
      callService: () => Promise.reject(new Error('There is no service in it.')),
    });
    const chunks: Buffer[] = Buffer.isBuffer(body) ? [body] : [];
    if (!Buffer.isBuffer(body)) for await (const chunk of body) chunks.push(Buffer.from(chunk));
    return statisticsOf(JSON.parse(Buffer.concat(chunks).toString()));
  }
}

const nothing: Statistics = { triples: 0, properties: 0, classes: 0, byProperty: [], byClass: [] };

interface Results {
  readonly results: { readonly bindings: readonly Readonly<Record<string, { readonly value: string }>>[] };
}

function statisticsOf({ results: { bindings } }: Results): Statistics {
  const sum = (name: string): number => Number(bindings.find((row) => row[name])?.[name]?.value ?? 0);
  const listed = (name: string): Counted[] =>
    bindings.flatMap((row) => {
      const iri = row[name]?.value;
      return iri !== undefined && isAbsoluteIri(iri) ? [[iri, Number(row['n']!.value)] as const] : [];
    });
  return {
    triples: sum('triples'),
    properties: sum('properties'),
    classes: sum('classes'),
    byProperty: listed('property'),
    byClass: listed('class'),
  };
}
