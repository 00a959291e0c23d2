/** Context of the SPARQL endpoint. */
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
  /** Maximum size of an update, in bytes. Absent: updates are off. */
  readonly maxUpdateBytes?: number | undefined;
  /** IRI of the resource to which changes of the default graph apply. Undefined: such changes are rejected. */
  readonly defaultGraph: string | undefined;
}

export const sparqlUrl = ({ baseUri, systemPrefix }: Pick<Platform, 'baseUri' | 'systemPrefix'>): string =>
  `${baseUri}${systemPrefix}/sparql`;
