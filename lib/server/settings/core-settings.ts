/** Settings of the layers, and combinations of them that the server rejects at startup (rule 5.4). */

import { type ProfileName, profileSetting, profiles } from '../../settings/profile.js';
import {
  flag,
  integer,
  issuerList,
  list,
  matching,
  oneOf,
  optional,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../../settings/settings.js';
import { usualValues } from '../../tools/json/json.js';
import { logLevels } from '../../tools/log.js';
import { hostList, isLoopback } from '../../tools/outbound/address-policy.js';

/** Returns true for `postgres://user@host:port/database?sslmode=…`, without a password, which has its own setting. */
function isDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, password, searchParams } = new URL(url);
  return /^postgres(?:ql)?:$/.test(protocol) && password === '' && !searchParams.has('password');
}

export const coreSettings = {
  tlsCertificate: setting(
    'lws.tls.certificate',
    optional(text('a file')),
    null,
    'File with the certificate and its chain (PEM). Reloaded on SIGHUP and when it changes. With lws.tls.key: serve HTTP/2 and HTTP/1.1 over TLS.',
  ),
  tlsKey: setting('lws.tls.key', optional(text('a file')), null, 'File with the private key of the certificate (PEM).'),
  tlsHttpPort: setting(
    'lws.tls.http-port',
    optional(integer(0, 65535)),
    null,
    'Port for plain HTTP, which answers ACME challenges and redirects everything else to the base URI (308).',
  ),
  acmeWebroot: setting(
    'lws.tls.acme.webroot',
    optional(text('a directory')),
    null,
    'Webroot of an external ACME client. Its challenges in .well-known/acme-challenge are answered.',
  ),
  baseUri: setting(
    'lws.base-uri',
    text('an http or https URI, perhaps with a path'),
    'http://localhost:8080',
    'URI of the storage for clients. All IRIs begin with it. It may have a path, under which the server then serves.',
  ),
  listenPort: setting(
    'lws.listen-port',
    optional(integer(0, 65535)),
    null,
    'Port to listen on. Default: the port of the base URI.',
  ),
  listenHost: setting(
    'lws.listen-host',
    optional(text('a host name or address')),
    null,
    'Address to listen on. Default: loopback for a base URI on loopback, otherwise every address.',
  ),
  dataDir: setting('lws.data-dir', text('a path'), 'lws-data', 'Directory of all stored data.'),
  store: setting(
    'lws.store',
    optional(matching(isDatabaseUrl, 'postgres://user@host/database without a password (that is lws.store.password)')),
    null,
    'PostgreSQL database that several servers of one storage share. Default: a single server with its own disk.',
  ),
  storePassword: setting('lws.store.password', optional(text('a password')), null, 'Password for lws.store.'),
  storeSchema: setting(
    'lws.store.schema',
    // Only names that need no quotes in SQL, and are easy to use in database tools.
    matching((name) => /^[a-z_][a-z0-9_]{0,62}$/.test(name), 'a name of lower-case letters, digits and underscores'),
    'quadpod',
    'Database schema for the tables of this storage. Created if missing.',
  ),
  storagesAddress: setting(
    'lws.storages.address',
    optional(text('an http or https URI with {name} as its first label or its last segment')),
    null,
    'URI template of further storages: https://{name}.pods.example/ or https://pods.example/{name}/. Default: no further storages.',
  ),
  storagesMax: setting(
    'lws.storages.max',
    integer(0),
    10_000,
    'Maximum number of storages, in addition to that of lws.base-uri.',
  ),
  storagesOpen: setting(
    'lws.storages.max-open',
    integer(1),
    200,
    'Maximum number of open storages. The least recently used is closed first.',
  ),
  storagesIdle: setting(
    'lws.storages.idle-seconds',
    integer(10),
    300,
    'Idle time after which a storage is closed, in seconds. The next request opens it again.',
  ),
  storagesQuota: setting(
    'lws.storages.quota-bytes',
    integer(0),
    1 << 30,
    'Quota of a storage without a quota of its own, in bytes. 0: no limit.',
  ),
  storagesKept: setting(
    'lws.storages.kept-days',
    integer(0, 3650),
    30,
    'Time for which a removed storage and its name are retained, in days.',
  ),
  storagesTemplates: setting(
    'lws.storages.templates',
    optional(text('a directory')),
    null,
    'Directory with a subdirectory for each template of new storages. {{name}}, {{owner}} and {{storage}} in its .ttl and .acl files are replaced.',
  ),
  storagesReserved: setting(
    'lws.storages.reserved-names',
    list,
    [],
    'Reserved storage names, in addition to www, api, app, admin, mail, home and callback.',
  ),
  systemPrefix: setting('lws.system-prefix', text('a path such as /.lws'), '/.lws', 'Path of the system endpoints.'),
  behindProxy: setting(
    'lws.behind-proxy',
    flag,
    false,
    'Trust X-Forwarded-For and X-Forwarded-Proto of a reverse proxy.',
  ),
  requireHttps: setting('lws.require-https', flag, false, 'Reject requests that did not reach the proxy over HTTPS.'),
  hstsMaxAge: setting(
    'lws.hsts.max-age-seconds',
    integer(0),
    0,
    'Max-age of Strict-Transport-Security, in seconds. 0: do not send the field.',
  ),
  logLevel: setting('lws.log.level', oneOf(logLevels), 'info', `Log level: ${logLevels.join(', ')}.`),
  components: setting('lws.components', list, [], 'Additional modules to install as components.'),
  profile: setting(
    profileSetting,
    optional(oneOf(Object.keys(profiles) as ProfileName[])),
    null,
    'Protocol profile: solid for Solid applications. It sets values that are null in config.json and extends the protocol.',
  ),
  owners: setting('lws.owners', list, [], 'Owners: identities (URIs) with full access.', 'storage'),
  devOpen: setting(
    'lws.dev.open',
    flag,
    false,
    'Open mode without owners: all callers may read and write. For development only.',
  ),
  publicRead: setting('lws.public-read', flag, false, 'All callers may read everything.', 'storage'),
  signposting: setting(
    'lws.signposting',
    flag,
    false,
    'For archives and harvesters: responses have links of the linkset (FAIR Signposting Profile), and the storage is a DCAT catalog.',
    'storage',
  ),
  catalogTitle: setting(
    'lws.catalog.title',
    optional(text('a title')),
    null,
    'Title of the storage, in the console (public) and in the DCAT catalog (lws.signposting). Default: the host and path of the storage in the catalog.',
    'storage',
  ),
  catalogDescription: setting(
    'lws.catalog.description',
    optional(text('a text')),
    null,
    'Description of the DCAT catalog. Default: a sentence with the URI of the storage.',
    'storage',
  ),
  catalogPublisher: setting(
    'lws.catalog.publisher',
    optional(text('a name')),
    null,
    'Name of the publisher of the DCAT catalog. Default: the title.',
    'storage',
  ),
  accessControl: setting(
    'lws.access-control',
    oneOf(['owner', 'wac'] as const),
    'owner',
    'Access model: owner (owners and creators) or wac (Web Access Control lists).',
    'storage',
  ),
  groupCache: setting(
    'lws.wac.group-cache-seconds',
    integer(0),
    300,
    'How long to cache a remote group document, in seconds.',
  ),
  groupFailureCache: setting(
    'lws.wac.group-failure-cache-seconds',
    integer(0),
    30,
    'How long to cache a failed fetch of a remote group document, in seconds.',
  ),
  groupFetches: setting(
    'lws.wac.max-group-fetches-per-decision',
    integer(0, 100),
    8,
    'Maximum number of remote group documents fetched per decision.',
  ),
  mask: setting(
    'lws.mask-forbidden-as-not-found',
    flag,
    true,
    'Return 404 instead of 403 to callers that may not know that a resource exists.',
    'storage',
  ),
  requireConditionalWrites: setting(
    'lws.require-conditional-writes',
    flag,
    true,
    'Reject a PUT without a precondition that would replace a resource (428).',
    'storage',
  ),
  pageSize: setting(
    'lws.container.page-size',
    integer(1, 1_000_000),
    1000,
    'Maximum number of members per page of a container listing.',
    'storage',
  ),
  quotaBytes: setting('lws.quota.max-bytes', integer(0), 0, 'Quota of the storage, in bytes. 0: no limit.', 'storage'),
  requestBytes: setting(
    'lws.max-request-bytes',
    integer(1),
    64 << 20,
    'Maximum size of an RDF, JSON or patch body, in bytes.',
  ),
  maxTriples: setting('lws.rdf.max-triples', integer(1), 500_000, 'Maximum number of triples in an RDF body.'),
  maxValues: setting(
    'lws.json.max-values',
    integer(1),
    usualValues,
    'Maximum number of values in a JSON body, a JSON-LD body or a JSON patch and its result.',
  ),
  linksetBytes: setting(
    'lws.linkset.max-bytes',
    integer(1),
    1 << 20,
    'Maximum size of a linkset, in bytes.',
    'storage',
  ),
  binaryBytes: setting('lws.max-binary-bytes', integer(0), 0, 'Maximum size of a binary body, in bytes. 0: no limit.'),
  connections: setting(
    'lws.max-connections',
    optional(integer(1)),
    null,
    'Maximum number of connections. Default: half of the open files limit.',
  ),
  connectionsPerAddress: setting(
    'lws.max-connections-per-address',
    optional(integer(1)),
    null,
    'Maximum connections per client address. Default: a quarter of lws.max-connections, or unlimited behind a proxy.',
  ),
  idleSeconds: setting(
    'lws.request-idle-seconds',
    integer(1, 3600),
    30,
    'Maximum pause of a client inside a body, in seconds. Over HTTP/2 also while it reads a response.',
  ),
  updateTimeout: setting(
    'lws.sparql-update.timeout-seconds',
    integer(1, 3600),
    10,
    'Time limit of a SPARQL update, in seconds.',
  ),
  cacheBytes: setting(
    'lws.cache.max-bytes',
    integer(0),
    32 << 20,
    'Cache size for rendered representations, in bytes.',
  ),
  corsOrigins: setting(
    'lws.cors.allowed-origins',
    list,
    [],
    'Origins with CORS access, or *. Empty: no CORS.',
    'storage',
  ),
  corsMaxAge: setting(
    'lws.cors.max-age-seconds',
    integer(0),
    600,
    'How long browsers may cache a preflight, in seconds.',
    'storage',
  ),
  audience: setting(
    'lws.audience',
    list,
    [],
    'Accepted audiences of credentials, in addition to the base URI.',
    'storage',
  ),
  audienceRequired: setting('lws.audience.require', flag, true, 'Reject credentials without an audience.', 'storage'),
  acceptCredentials: setting(
    'lws.oauth.accept-authentication-credentials',
    flag,
    true,
    'Accept authentication credentials directly, not only access tokens.',
    'storage',
  ),
  trustedIssuers: setting(
    'lws.oauth.trusted-issuers',
    issuerList,
    [],
    'Issuer URIs of other authorization servers with accepted access tokens.',
    'storage',
  ),
  dpopOnly: setting(
    'lws.dpop.require',
    flag,
    false,
    'Reject bearer tokens: every token requires a DPoP proof.',
    'storage',
  ),
  dpopNonce: setting('lws.dpop.require-nonce', flag, false, 'Require a server nonce in every DPoP proof.', 'storage'),
  dpopCache: setting(
    'lws.dpop.jti-cache-size',
    integer(1),
    100_000,
    'Number of used DPoP proofs to store, to detect replays.',
  ),
  failures: setting(
    'lws.rate-limit.failed-authentications',
    integer(0),
    600,
    'Maximum rejected credentials per address and minute. 0: no limit.',
  ),
  fetchBlock: setting('lws.fetch.block-private-addresses', flag, true, 'Fetch only from public addresses.'),
  contextHosts: setting(
    'lws.jsonld.allowed-context-hosts',
    hostList,
    [],
    'Hosts (host or host:port) from which JSON-LD contexts are fetched.',
  ),
  fetchAllowed: setting(
    'lws.fetch.allowed-hosts',
    hostList,
    [],
    'Hosts (host or host:port) that may be fetched from at any address.',
  ),
  fetchAtOnce: setting(
    'lws.fetch.max-concurrent',
    integer(1, 10_000),
    32,
    'Maximum concurrent requests to other servers per purpose: documents of subjects and their providers, groups, SERVICE.',
  ),
  fetchPerHost: setting(
    'lws.fetch.max-concurrent-per-host',
    integer(1, 10_000),
    8,
    'Maximum concurrent requests per purpose to one host.',
  ),
  fetchCertificates: setting(
    'lws.fetch.ca-certificates',
    list,
    [],
    'Files with CA certificates (PEM) to trust in addition to those of Node.js.',
  ),
} as const;

export type CoreSettings = SettingsOf<typeof coreSettings>;

/** Returns the normalized base URI. @throws SettingsError if it is not valid */
export function readBaseUri({ baseUri }: CoreSettings): { url: URL; storage: string; loopback: boolean } {
  const refuse = (why: string): never => {
    throw new SettingsError(`lws.base-uri is ${JSON.stringify(baseUri)}; ${why}.`);
  };
  if (!URL.canParse(baseUri)) return refuse('expected an http or https URI such as https://storage.example');
  const url = new URL(baseUri);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('expected an http or https URI');
  if (url.search || url.hash || url.username || url.password) refuse('it may have a host and a path, nothing else');
  if (/\/\/|%|[^\x21-\x7e]/.test(url.pathname)) refuse('its path may only have plain segments');
  const storage = `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}/`;
  return { url, storage, loopback: isLoopback(url.hostname) };
}
