/** The SPARQL Query Service: queries over exactly what the asking client may read (rule 14.2). */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { defineComponent } from '../../lib/component/contract.js';
import { hostList, parseAllowedHost } from '../../lib/outbound/address-policy.js';
import { MemoryIndex, quadsInMemory } from '../../lib/query/memory/memory-index.js';
import { flag, integer, optional, setting } from '../../lib/settings.js';
import { QueryPool } from './pool/query-pool.js';
import { sparqlQuery } from './protocol/protocol.js';
import { askResource, runStored, sparqlRoutes } from './routes.js';
import { sparqlUrl } from './service-endpoint.js';
import { CountedStatistics } from './statistics.js';

const settings = {
  enabled: setting('lws.sparql.endpoint.enabled', flag, true, 'Answer SPARQL queries.', 'storage'),
  timeout: setting(
    'lws.sparql.endpoint.timeout-seconds',
    integer(1, 3600),
    30,
    'Seconds after which a query is ended.',
  ),
  maxResults: setting(
    'lws.sparql.endpoint.max-results',
    integer(1),
    1_000_000,
    'Rows or triples that a query may have.',
  ),
  maxAnswerMb: setting(
    'lws.sparql.endpoint.max-answer-mb',
    integer(1),
    64,
    'The longest answer to a query, in MiB; one that has begun breaks off.',
  ),
  workers: setting(
    'lws.sparql.endpoint.max-concurrent',
    optional(integer(1, 64)),
    null,
    'Queries that run at once; nothing: one more than processors, since one client never holds the last place.',
  ),
  strangers: setting(
    'lws.sparql.endpoint.max-concurrent-strangers',
    optional(integer(1, 64)),
    null,
    'Queries at once of all who own nothing and were granted nothing, together; nothing: half of those that run at once.',
  ),
  strangerTimeout: setting(
    'lws.sparql.endpoint.stranger-timeout-seconds',
    integer(1, 3600),
    10,
    'Seconds after which a query of somebody who owns nothing and was granted nothing is ended, where that is sooner.',
  ),
  maxBytes: setting('lws.sparql.endpoint.max-query-bytes', integer(1), 64 << 10, 'The longest query, in bytes.'),
  update: setting(
    'lws.sparql.endpoint.update',
    flag,
    false,
    'Take SPARQL updates at the endpoint: graphs are resources, and all of a request change in one transaction.',
    'storage',
  ),
  maxUpdateBytes: setting(
    'lws.sparql.endpoint.max-update-bytes',
    integer(1, 64 << 20),
    1 << 20,
    'The longest update at the endpoint, in bytes.',
  ),
  memoryMb: setting('lws.sparql.endpoint.memory-mb', integer(64), 512, 'Memory of one query, in MiB.'),
  allowedServices: setting(
    'lws.sparql.endpoint.allowed-services',
    hostList,
    [],
    'Hosts (host or host:port) that SERVICE may ask, whatever their address; nothing: SERVICE is refused.',
  ),
  maxIndexed: setting(
    'lws.sparql.endpoint.memory-index-quads',
    optional(integer(0)),
    null,
    'Keep an index in memory from the first query on while there are at most so many quads (about 100 bytes each, and twice that again while it is built anew); with more, the database keeps four orders of them instead of one. Nothing: as many as fit into the memory of the machine, up to a million; 0: never.',
  ),
};

/** Queries that may wait for each that may run. */
const queuedPerWorker = 16;

export default defineComponent({
  name: 'sparql',
  settings,
  isEnabled: ({ enabled }) => enabled,
  install(platform, given) {
    const { timeout, maxResults, maxAnswerMb, workers, maxBytes, memoryMb, allowedServices } = given;
    const size = workers ?? availableParallelism() + 1;
    const folder = join(resolve(platform.dataDir), 'level');
    const { store, log } = platform;
    const memory = new MemoryIndex({ folder, store, log, maxQuads: given.maxIndexed ?? quadsInMemory() });
    const pool = new QueryPool({
      folder,
      storage: platform.rootIri,
      size,
      strangers: given.strangers ?? Math.max(1, size >> 1),
      timeoutMs: timeout * 1000,
      strangerTimeoutMs: given.strangerTimeout * 1000,
      memoryMb,
      queue: size * queuedPerWorker,
      memory,
      store,
      isHome: (platform.home ?? platform.rootIri) === platform.rootIri,
    });
    store.beforeReopening(() => pool.pause());
    store.beforeReopening(() => memory.pause());
    const services = {
      fetch: platform.fetchUnder({ blockPrivateAddresses: true, allowedHosts: allowedServices }),
      allowed: allowedServices.map((entry) => parseAllowedHost(entry)!),
      timeoutMs: timeout * 1000,
      log: platform.log,
    };
    const statistics = new CountedStatistics(platform, pool);
    const endpoint = {
      platform,
      pool,
      statistics,
      maxBytes,
      maxResults,
      maxAnswerBytes: maxAnswerMb * 2 ** 20,
      services,
      maxUpdateBytes: given.update ? given.maxUpdateBytes : undefined,
    };
    const serviceEndpoint = sparqlUrl(platform);
    return {
      routes: sparqlRoutes(endpoint),
      services: [
        { type: 'SparqlQueryService', serviceEndpoint },
        { type: 'http://www.w3.org/ns/sparql-service-description#Service', serviceEndpoint },
      ],
      resourceQuery: {
        mediaType: sparqlQuery,
        ask: (question) => askResource(endpoint, question),
        run: (question) => runStored(endpoint, question),
      },
      metrics: () => pool.measures(),
      warm: () => pool.warm(),
      start: () => store.expect(0),
      stop: async () => {
        await Promise.all([pool.close(), memory.close()]);
      },
    };
  },
});
