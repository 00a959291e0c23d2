/** The SPARQL Query Service: queries over the resources that the caller can read (rule 14.2). */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { defineComponent } from '../../lib/component/component.js';
import type { Platform } from '../../lib/component/contract.js';
import { MemoryIndex, type MemoryIndexOptions, memoryForIndexes } from '../../lib/query/memory/memory-index.js';
import { assertName } from '../../lib/resources/bulk.js';
import { flag, integer, optional, SettingsError, setting, text } from '../../lib/settings/settings.js';
import { isContainerIri } from '../../lib/storage/keys/records.js';
import { LwsError } from '../../lib/tools/errors.js';
import { hostList, parseAllowedHost } from '../../lib/tools/outbound/address-policy.js';
import { QueryPool } from './pool/query-pool.js';
import { sparqlQuery } from './protocol/protocol.js';
import { askResource, runStored, sparqlRoutes } from './routes.js';
import { sparqlUrl } from './service-endpoint.js';
import { CountedStatistics } from './statistics.js';
import { sparqlTools, storedTools } from './tools.js';

const settings = {
  enabled: setting('lws.sparql.endpoint.enabled', flag, true, 'Answer SPARQL queries.', 'storage'),
  timeout: setting('lws.sparql.endpoint.timeout-seconds', integer(1, 3600), 30, 'Query timeout, in seconds.'),
  maxResults: setting(
    'lws.sparql.endpoint.max-results',
    integer(1),
    1_000_000,
    'Maximum rows or triples in a query result.',
  ),
  maxAnswerMb: setting(
    'lws.sparql.endpoint.max-answer-mb',
    integer(1),
    64,
    'Maximum size of a query result, in MiB; a result that exceeds it after it began is aborted.',
  ),
  workers: setting(
    'lws.sparql.endpoint.max-concurrent',
    optional(integer(1, 64)),
    null,
    'Maximum concurrent queries. Default: number of processors plus one; one client cannot use the last slot.',
  ),
  strangers: setting(
    'lws.sparql.endpoint.max-concurrent-strangers',
    optional(integer(1, 64)),
    null,
    'Maximum concurrent queries of all callers without a grant or a resource of their own together. Default: half of the concurrent queries.',
  ),
  strangerTimeout: setting(
    'lws.sparql.endpoint.stranger-timeout-seconds',
    integer(1, 3600),
    10,
    'Query timeout of callers without a grant or a resource of their own, in seconds, if shorter.',
  ),
  maxBytes: setting('lws.sparql.endpoint.max-query-bytes', integer(1), 64 << 10, 'Maximum size of a query, in bytes.'),
  update: setting(
    'lws.sparql.endpoint.update',
    flag,
    false,
    'Accept SPARQL updates at the endpoint: graphs are resources, and a request changes all of them in one transaction.',
    'storage',
  ),
  defaultGraph: setting(
    'lws.sparql.endpoint.default-graph',
    optional(text()),
    null,
    'Resource that is changed by updates without GRAPH and by Graph Store requests for ?default: an IRI, which may be relative to the storage. Default: such requests are rejected.',
    'storage',
  ),
  tools: setting(
    'lws.sparql.endpoint.tools',
    optional(text()),
    null,
    'Container whose stored queries (application/sparql-query) are tools of agents: an IRI, which may be relative to the storage. Comments at their beginning instruct agents: let only trusted callers write there.',
    'storage',
  ),
  maxUpdateBytes: setting(
    'lws.sparql.endpoint.max-update-bytes',
    integer(1, 64 << 20),
    1 << 20,
    'Maximum size of an update at the endpoint, in bytes.',
  ),
  memoryMb: setting('lws.sparql.endpoint.memory-mb', integer(64), 512, 'Memory limit of one query, in MiB.'),
  allowedServices: setting(
    'lws.sparql.endpoint.allowed-services',
    hostList,
    [],
    'Hosts (host or host:port) allowed in SERVICE, at any address. Default: SERVICE is rejected.',
  ),
  indexMb: setting(
    'lws.index.memory-mb',
    optional(integer(1)),
    null,
    'Maximum memory for the index for queries, in MiB, for all storages of the process. Default: a quarter of the memory above 448 MiB, at most 512 MiB. Pages that do not fit are read from its files (about 30 bytes per quad).',
  ),
};

/** Creates the query index. @param megabytes maximum memory for pages, in MiB; `null` for the default */
const indexOf = (options: Omit<MemoryIndexOptions, 'memory'>, megabytes: number | null): MemoryIndex =>
  new MemoryIndex({ ...options, memory: megabytes === null ? memoryForIndexes() : megabytes * 2 ** 20 });

/** Returns the IRI of the container or other resource that a setting names. @throws SettingsError */
function named(
  storage: Pick<Platform, 'rootIri' | 'systemPrefix'>,
  setting: 'default-graph' | 'tools',
  name: string | null,
): string | undefined {
  if (name === null) return undefined;
  const iri = URL.canParse(name, storage.rootIri) ? new URL(name, storage.rootIri).href : name;
  try {
    const isContainer = setting === 'tools';
    if (!isContainer || iri !== storage.rootIri) assertName(storage, iri);
    if (isContainerIri(iri) === isContainer) return iri;
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
  }
  throw new SettingsError(
    `lws.sparql.endpoint.${setting} is ${name}, which is not valid as the name of a ${setting === 'tools' ? 'container' : 'resource'} in ${storage.rootIri}.`,
  );
}

const serviceTypes = ['SparqlQueryService', 'http://www.w3.org/ns/sparql-service-description#Service'];
/** Maximum queued queries per worker thread. */
const queuedPerWorker = 16;

export default defineComponent({
  name: 'sparql',
  settings,
  isEnabled: ({ enabled }) => enabled,
  assertUsable({ defaultGraph, tools }, names) {
    named(names, 'default-graph', defaultGraph);
    named(names, 'tools', tools);
  },
  install(platform, given) {
    const { timeout, maxResults, maxAnswerMb, workers, maxBytes, memoryMb, allowedServices, indexMb } = given;
    const size = workers ?? availableParallelism() + 1;
    const folder = join(resolve(platform.dataDir), 'level');
    const { store, log } = platform;
    const memory = indexOf({ folder, store, log }, indexMb);
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
    const defaultGraph = named(platform, 'default-graph', given.defaultGraph);
    const container = named(platform, 'tools', given.tools);
    const endpoint = {
      ...{ platform, pool, maxBytes, maxResults },
      statistics: new CountedStatistics(platform, pool),
      maxAnswerBytes: maxAnswerMb * 2 ** 20,
      services,
      maxUpdateBytes: given.update ? given.maxUpdateBytes : undefined,
      defaultGraph,
    };
    const serviceEndpoint = sparqlUrl(platform);
    return {
      routes: sparqlRoutes(endpoint),
      services: serviceTypes.map((type) => ({ type, serviceEndpoint })),
      resourceQuery: {
        mediaType: sparqlQuery,
        defaultGraph,
        ask: (question) => askResource(endpoint, question),
        run: (question) => runStored(endpoint, question),
      },
      tools: sparqlTools(endpoint),
      ...(container !== undefined && {
        toolsFor: (caller, wanted) => storedTools(endpoint, container, { caller, wanted }),
      }),
      metrics: () => pool.metrics(),
      warm: () => pool.warm(),
      stop: async () => {
        await Promise.all([pool.close(), memory.close()]);
      },
    };
  },
});
