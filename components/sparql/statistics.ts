/**
 * Statistics of the caller's readable graphs: triples, classes and predicates. A query with the rights of the caller counts
 * them, so that no count reveals other data. Requests wait only briefly for this query.
 */
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { lruCache } from '../../lib/tools/caches.js';
import { LwsError } from '../../lib/tools/errors.js';
import type { QueryPool } from './pool/query-pool.js';
import { resultFormats } from './protocol/protocol.js';

/** Class or predicate, and its count of triples. */
export type Counted = readonly [iri: string, count: number];

export interface Statistics {
  readonly triples: number;
  readonly properties: number;
  readonly classes: number;
  /** The most frequent properties. */
  readonly byProperty: readonly Counted[];
  readonly byClass: readonly Counted[];
}

export interface Counting {
  readonly access: Access;
  readonly client: Client;
  /** Aborts when the caller has disconnected. */
  readonly gone: AbortSignal;
}

const maxListed = 1_000;
/** Query with one scan for each count, all on one snapshot. */
const query = `SELECT * {
  { SELECT (COUNT(*) AS ?triples) (COUNT(DISTINCT ?p) AS ?properties) { ?s ?p ?o } }
  UNION { SELECT (COUNT(DISTINCT ?c) AS ?classes) { ?s a ?c } }
  UNION { SELECT ?property (COUNT(*) AS ?n) { ?s ?property ?o } GROUP BY ?property ORDER BY DESC(?n) ?property LIMIT ${maxListed} }
  UNION { SELECT ?class (COUNT(*) AS ?n) { ?s a ?class FILTER(isIRI(?class)) } GROUP BY ?class ORDER BY DESC(?n) ?class LIMIT ${maxListed} }
}`;
const maxBytes = 4 << 20;
/** Maximum wait of a response for statistics, in milliseconds. */
const waitMs = 25;
/** Minimum pause before the next count, as a multiple of the duration of the last. */
const pauseTimes = 20;
/** Retry interval after a count that failed or took too long, in milliseconds. */
const retryMs = 60_000;
/** Maximum cached statistics, one entry per distinct read access. */
const maxKept = 200;

interface Kept {
  readonly found: Statistics | undefined;
  /** Version of the store that was counted. */
  readonly version: number;
  readonly nextAt: number;
}

export class CountedStatistics {
  /** Cache, keyed by the caller's read access. */
  private readonly kept = lruCache<Kept>(maxKept);
  private readonly underWay = new Map<string, Promise<Statistics | undefined>>();
  private version = 0;

  constructor(
    private readonly platform: Platform,
    private readonly pool: QueryPool,
  ) {
    platform.store.onCommit(() => {
      this.version++;
    });
  }

  /** Returns the statistics for a caller, or `undefined` if they are not available soon. */
  async of(counting: Counting): Promise<Statistics | undefined> {
    const scope = await this.platform.authorizer.readScope(counting.access);
    if (scope === 'nothing') return nothing;
    // Each resource, including those already counted, would have to be authorized separately.
    if (scope === 'decide') return undefined;
    const isAll = scope === 'everything';
    const key = isAll ? '' : createHash('sha256').update(JSON.stringify(scope)).digest('base64');
    const known = this.kept.get(key);
    const isNew = known?.found !== undefined && known.version === this.version;
    // Outdated statistics are safe for callers who can read everything.
    const shown = isNew || isAll ? known?.found : undefined;
    if (isNew || (known && Date.now() < known.nextAt && !this.underWay.has(key))) return shown;
    const counted = this.underWay.get(key) ?? this.begin(key, isAll ? undefined : counting);
    return (await Promise.race([counted, sleep(waitMs, undefined, { ref: false })])) ?? shown;
  }

  /** Begins a count. Concurrent requests for the same statistics share one count. */
  private begin(key: string, by: Counting | undefined): Promise<Statistics | undefined> {
    const { version } = this;
    const began = Date.now();
    const counting = this.count(by)
      .catch((error: unknown) => {
        // The query has exceeded a limit, or the server is busy. The description omits the statistics.
        if (!(error instanceof LwsError))
          this.platform.log.warn({ err: error }, 'SPARQL statistics could not be computed');
        return undefined;
      })
      .then((found) => {
        this.underWay.delete(key);
        const now = Date.now();
        const nextAt = now + (found ? pauseTimes * (now - began) : retryMs);
        const { found: before } = this.kept.get(key) ?? {};
        this.kept.set(key, found ? { found, version, nextAt } : { found: before, version: -1, nextAt });
        return found;
      });
    this.underWay.set(key, counting);
    return counting;
  }

  /** Counts graphs. @param by caller whose graphs are counted; undefined for all graphs, at the cost of the server */
  private async count(by: Counting | undefined): Promise<Statistics> {
    const { authorizer, store, rootIri: storage } = this.platform;
    const { body } = await this.pool.run({
      task: {
        query,
        base: storage,
        formats: { results: resultFormats[0] },
        maxResults: 2 * maxListed + 2,
        maxBytes,
        allowedServices: [],
      },
      ...(by?.client ?? { callerClass: 'known', client: 'statistics' }),
      scope: async () => (by ? authorizer.readScope(by.access) : 'everything'),
      gone: () => by?.gone ?? new AbortController().signal,
      decide: (iris) =>
        Promise.all(iris.map((iri) => !by || authorizer.finds({ view: store, access: by.access, iri }))),
      callService: () => Promise.reject(new Error('The statistics query has no SERVICE.')),
    });
    return statisticsOf(JSON.parse(Buffer.isBuffer(body) ? body.toString() : await text(body)));
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
