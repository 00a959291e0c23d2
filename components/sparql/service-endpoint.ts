/** What answers at the endpoint, and where it is. */
import type { Platform } from '../../lib/component/contract.js';
import type { QueryPool } from './pool/query-pool.js';
import type { ServiceCallsOptions } from './services/service-calls.js';
import type { CountedStatistics } from './statistics.js';

export interface SparqlEndpoint {
  readonly platform: Platform;
  readonly pool: QueryPool;
  readonly statistics: CountedStatistics;
  readonly maxBytes: number;
  readonly maxResults: number;
  readonly maxAnswerBytes: number;
  readonly services: ServiceCallsOptions;
  /** Bytes of an update; absent: there are no updates. */
  readonly maxUpdateBytes?: number | undefined;
}

export const sparqlUrl = ({ baseUri, systemPrefix }: Pick<Platform, 'baseUri' | 'systemPrefix'>): string =>
  `${baseUri}${systemPrefix}/sparql`;
