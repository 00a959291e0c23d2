/**
 * How much there is in what a caller may read: triples, classes and predicates, counted by a query of that caller's, so that no count tells
 * of anything else. Nobody waits for it for long.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../lib/authorization/client.js';
import type { Access } from '../../lib/authorization/principal.js';
import { lruCache } from '../../lib/caches.js';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import type { QueryPool } from './pool/query-pool.js';
import { resultFormats } from './protocol/protocol.js';

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

const maxListed = 1_000;
/** One scan for each; of one snapshot. */
const query = `SELECT * {
  { SELECT (COUNT(*) AS ?triples) (COUNT(DISTINCT ?p) AS ?properties) { ?s ?p ?o } }
  UNION { SELECT (COUNT(DISTINCT ?c) AS ?classes) { ?s a ?c } }
  UNION { SELECT ?property (COUNT(*) AS ?n) { ?s ?property ?o } GROUP BY ?property ORDER BY DESC(?n) ?property LIMIT ${maxListed} }
  UNION { SELECT ?class (COUNT(*) AS ?n) { ?s a ?class FILTER(isIRI(?class)) } GROUP BY ?class ORDER BY DESC(?n) ?class LIMIT ${maxListed} }
}`;
const maxBytes = 4 << 20;
/** Milliseconds that an answer waits for counts that are on their way. */
const waitMs = 25;
/** Nothing is counted again before so many times as long have passed as it took. */
const pauseTimes = 20;
/** Milliseconds until counting is tried again where it took too long or failed. */
const retryMs = 60_000;
/** Kinds of callers whose counts are kept. */
const maxKept = 200;

interface Kept {
  readonly found: Statistics | undefined;
  /** The commit that it is as new as. */
  readonly version: number;
  readonly nextAt: number;
}

export class CountedStatistics {
  /** By what callers may read. */
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

  /** What there is for a caller; `undefined` when it cannot be said at once. */
  async of(counting: Counting): Promise<Statistics | undefined> {
    const scope = await this.platform.authorizer.readScope(counting.access);
    if (scope === 'nothing') return nothing;
    // Each resource would have to be decided, also for what was counted before.
    if (scope === 'decide') return undefined;
    const isAll = scope === 'everything';
    const key = isAll ? '' : createHash('sha256').update(JSON.stringify(scope)).digest('base64');
    const known = this.kept.get(key);
    const isNew = known?.found !== undefined && known.version === this.version;
    // To who reads everything, what was there before tells of nothing that is hidden.
    const shown = isNew || isAll ? known?.found : undefined;
    if (isNew || (known && Date.now() < known.nextAt && !this.underWay.has(key))) return shown;
    const counted = this.underWay.get(key) ?? this.begin(key, isAll ? undefined : counting);
    return (await Promise.race([counted, sleep(waitMs, undefined, { ref: false })])) ?? shown;
  }

  /** Those who ask for the same share one count. */
  private begin(key: string, by: Counting | undefined): Promise<Statistics | undefined> {
    const { version } = this;
    const began = Date.now();
    const counting = this.count(by)
      .catch((error: unknown) => {
        // A limit, or a server that has other things to do; the description goes without.
        if (!(error instanceof LwsError)) this.platform.log.warn({ err: error }, 'what there is could not be counted');
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

  /** @param by whose part it is; absent: everything, at the server's own cost */
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
