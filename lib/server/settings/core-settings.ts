/** The settings of the floors, and the combinations of them that the server refuses to start with (rule 5.4). */

import { usualValues } from '../../json/json.js';
import { logLevels } from '../../log.js';
import { hostList, isLoopback } from '../../outbound/address-policy.js';
import { type ProfileName, profileSetting, profiles } from '../../profile.js';
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
} from '../../settings.js';

/** Accepts `postgres://user@host:port/database?sslmode=…` without a password, because that has its own setting. */
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
    'The file of the certificate and its chain (PEM); read again on SIGHUP and when it changes. With lws.tls.key: serve HTTP/2 and HTTP/1.1 over TLS.',
  ),
  tlsKey: setting(
    'lws.tls.key',
    optional(text('a file')),
    null,
    'The file of the private key of the certificate (PEM).',
  ),
  tlsHttpPort: setting(
    'lws.tls.http-port',
    optional(integer(0, 65535)),
    null,
    'A port for plain HTTP that answers ACME challenges and redirects everything else to the base URI (308).',
  ),
  acmeWebroot: setting(
    'lws.tls.acme.webroot',
    optional(text('a folder')),
    null,
    'The webroot of an ACME client outside: the challenges in its .well-known/acme-challenge are answered.',
  ),
  baseUri: setting(
    'lws.base-uri',
    text('an http or https URI, perhaps with a path'),
    'http://localhost:8080',
    'Where clients find the storage; all IRIs begin with it. May carry a path, under which the server then serves.',
  ),
  listenPort: setting(
    'lws.listen-port',
    optional(integer(0, 65535)),
    null,
    'The port to listen on; nothing: the port of the base URI.',
  ),
  listenHost: setting(
    'lws.listen-host',
    optional(text('a host name or address')),
    null,
    'The address to listen on; nothing: loopback for a base URI on loopback, else every address.',
  ),
  dataDir: setting('lws.data-dir', text('a path'), 'lws-data', 'The folder of everything that is stored.'),
  store: setting(
    'lws.store',
    optional(matching(isDatabaseUrl, 'postgres://user@host/database without a password (that is lws.store.password)')),
    null,
    'The PostgreSQL database through which several servers serve one storage; nothing: this server alone, on its disk.',
  ),
  storePassword: setting('lws.store.password', optional(text('a password')), null, 'The password for lws.store.'),
  storeSchema: setting(
    'lws.store.schema',
    // So that the name needs no quotes in SQL, and operators find the schema with the tools of the database.
    matching((name) => /^[a-z_][a-z0-9_]{0,62}$/.test(name), 'a name of lower-case letters, digits and underscores'),
    'quadpod',
    'The schema of the database that has the tables of this storage; it is made when it is missing.',
  ),
  storagesAddress: setting(
    'lws.storages.address',
    optional(text('an http or https URI with {name} as its first label or its last segment')),
    null,
    'Where further storages are: https://{name}.pods.example/, or https://pods.example/{name}/; nothing: there are none.',
  ),
  storagesMax: setting(
    'lws.storages.max',
    integer(0),
    10_000,
    'Storages that there may be, besides that of lws.base-uri.',
  ),
  storagesOpen: setting(
    'lws.storages.max-open',
    integer(1),
    200,
    'Of these, open at once; who used one last keeps it.',
  ),
  storagesIdle: setting(
    'lws.storages.idle-seconds',
    integer(10),
    300,
    'Seconds after which a storage is closed that nobody asks; the next request opens it again.',
  ),
  storagesQuota: setting(
    'lws.storages.quota-bytes',
    integer(0),
    1 << 30,
    'The quota, in bytes, of a storage whose record gives none; 0: no limit.',
  ),
  storagesKept: setting(
    'lws.storages.kept-days',
    integer(0, 3650),
    30,
    'Days that a removed storage is kept, and its name is taken.',
  ),
  storagesTemplates: setting(
    'lws.storages.templates',
    optional(text('a folder')),
    null,
    'A folder with a folder for each template: files that a new storage begins with; {{name}}, {{owner}} and {{storage}} in .ttl and .acl files stand for its own.',
  ),
  storagesReserved: setting(
    'lws.storages.reserved-names',
    list,
    [],
    'Names that no storage gets, besides www, api, app, admin, mail, home and callback.',
  ),
  systemPrefix: setting(
    'lws.system-prefix',
    text('a path such as /.lws'),
    '/.lws',
    'The path below which the system endpoints live.',
  ),
  behindProxy: setting(
    'lws.behind-proxy',
    flag,
    false,
    'Believe X-Forwarded-For and X-Forwarded-Proto of a reverse proxy.',
  ),
  requireHttps: setting('lws.require-https', flag, false, 'Refuse requests that did not reach the proxy over HTTPS.'),
  hstsMaxAge: setting(
    'lws.hsts.max-age-seconds',
    integer(0),
    0,
    'Strict-Transport-Security for that many seconds; 0: none.',
  ),
  logLevel: setting('lws.log.level', oneOf(logLevels), 'info', `How much to log: ${logLevels.join(', ')}.`),
  components: setting('lws.components', list, [], 'Names of further modules to install as components.'),
  profile: setting(
    profileSetting,
    optional(oneOf(Object.keys(profiles) as ProfileName[])),
    null,
    'What some applications expect: solid, of a Solid storage. It sets what is null in config.json, and extends the interface.',
  ),
  owners: setting('lws.owners', list, [], 'The identities (URIs) that may do everything.', 'storage'),
  devOpen: setting('lws.dev.open', flag, false, 'Without owners: everybody may read and write. For development alone.'),
  publicRead: setting('lws.public-read', flag, false, 'Everybody may read everything.', 'storage'),
  accessControl: setting(
    'lws.access-control',
    oneOf(['owner', 'wac'] as const),
    'owner',
    'How access is decided: by owners and creators, or by ACLs (Web Access Control).',
    'storage',
  ),
  groupCache: setting('lws.wac.group-cache-seconds', integer(0), 300, 'Seconds that a remote group document is kept.'),
  groupFailureCache: setting(
    'lws.wac.group-failure-cache-seconds',
    integer(0),
    30,
    'Seconds until a remote group document that could not be had is asked for again.',
  ),
  groupFetches: setting(
    'lws.wac.max-group-fetches-per-decision',
    integer(0, 100),
    8,
    'Remote group documents that one decision may fetch.',
  ),
  mask: setting(
    'lws.mask-forbidden-as-not-found',
    flag,
    true,
    'Answer 404 instead of 403 to those who may not know that a resource exists.',
    'storage',
  ),
  requireConditionalWrites: setting(
    'lws.require-conditional-writes',
    flag,
    true,
    'Refuse a PUT that replaces a resource without a precondition (428).',
    'storage',
  ),
  pageSize: setting(
    'lws.container.page-size',
    integer(1, 1_000_000),
    1000,
    'Members on one page of a container listing.',
    'storage',
  ),
  quotaBytes: setting('lws.quota.max-bytes', integer(0), 0, 'Bytes that the storage may hold; 0: no limit.', 'storage'),
  requestBytes: setting(
    'lws.max-request-bytes',
    integer(1),
    64 << 20,
    'The longest RDF, JSON or patch body, in bytes.',
  ),
  maxTriples: setting('lws.rdf.max-triples', integer(1), 500_000, 'Triples that an RDF body may have.'),
  maxValues: setting(
    'lws.json.max-values',
    integer(1),
    usualValues,
    'Maximum number of values in a JSON body, a JSON-LD body or a JSON patch and its result.',
  ),
  linksetBytes: setting('lws.linkset.max-bytes', integer(1), 1 << 20, 'The longest linkset, in bytes.', 'storage'),
  binaryBytes: setting('lws.max-binary-bytes', integer(0), 0, 'The longest binary body, in bytes; 0: no limit.'),
  connections: setting(
    'lws.max-connections',
    optional(integer(1)),
    null,
    'Connections at once; nothing: half of the files that the process may open.',
  ),
  connectionsPerAddress: setting(
    'lws.max-connections-per-address',
    optional(integer(1)),
    null,
    'Of these, from one address; nothing: a quarter, or all behind a proxy.',
  ),
  idleSeconds: setting(
    'lws.request-idle-seconds',
    integer(1, 3600),
    30,
    'Seconds that a client may pause within a body; over HTTP/2, also before it reads on in an answer.',
  ),
  updateTimeout: setting(
    'lws.sparql-update.timeout-seconds',
    integer(1, 3600),
    10,
    'Seconds after which a SPARQL update is ended.',
  ),
  cacheBytes: setting(
    'lws.cache.max-bytes',
    integer(0),
    32 << 20,
    'Bytes of rendered representations to keep in memory.',
  ),
  corsOrigins: setting(
    'lws.cors.allowed-origins',
    list,
    [],
    'Origins whose scripts may use the storage, or *; none: no CORS.',
    'storage',
  ),
  corsMaxAge: setting(
    'lws.cors.max-age-seconds',
    integer(0),
    600,
    'Seconds that a browser may remember a preflight.',
    'storage',
  ),
  audience: setting(
    'lws.audience',
    list,
    [],
    'Further audiences that a credential may name besides the base URI.',
    'storage',
  ),
  audienceRequired: setting(
    'lws.audience.require',
    flag,
    true,
    'Refuse a credential that names no audience.',
    'storage',
  ),
  acceptCredentials: setting(
    'lws.oauth.accept-authentication-credentials',
    flag,
    true,
    'Take authentication credentials directly, not only access tokens.',
    'storage',
  ),
  trustedIssuers: setting(
    'lws.oauth.trusted-issuers',
    issuerList,
    [],
    'Other authorization servers (their issuer URIs) whose access tokens are accepted.',
    'storage',
  ),
  dpopOnly: setting(
    'lws.dpop.require',
    flag,
    false,
    'Refuse bearer tokens: every token needs a DPoP proof.',
    'storage',
  ),
  dpopNonce: setting(
    'lws.dpop.require-nonce',
    flag,
    false,
    'Require a nonce of this server in every DPoP proof.',
    'storage',
  ),
  dpopCache: setting(
    'lws.dpop.jti-cache-size',
    integer(1),
    100_000,
    'How many used DPoP proofs to remember against replay.',
  ),
  failures: setting(
    'lws.rate-limit.failed-authentications',
    integer(0),
    600,
    'Refused credentials of one address in a minute before it has to wait; 0: no limit.',
  ),
  fetchBlock: setting(
    'lws.fetch.block-private-addresses',
    flag,
    true,
    'Fetch nothing from addresses that are not public.',
  ),
  contextHosts: setting(
    'lws.jsonld.allowed-context-hosts',
    hostList,
    [],
    'Hosts (host or host:port) whose JSON-LD contexts are fetched for documents that name them.',
  ),
  fetchAllowed: setting(
    'lws.fetch.allowed-hosts',
    hostList,
    [],
    'Hosts (host or host:port) that may be fetched from whatever their address.',
  ),
  fetchAtOnce: setting(
    'lws.fetch.max-concurrent',
    integer(1, 10_000),
    32,
    'Requests to other servers at once for one purpose: documents of subjects and their providers, groups, SERVICE.',
  ),
  fetchPerHost: setting('lws.fetch.max-concurrent-per-host', integer(1, 10_000), 8, 'Of these, to one host.'),
  fetchCertificates: setting(
    'lws.fetch.ca-certificates',
    list,
    [],
    'Files with certificates (PEM) of authorities to trust beside the well-known ones.',
  ),
} as const;

export type CoreSettings = SettingsOf<typeof coreSettings>;

/** The base URI as the server uses it. @throws SettingsError when it is none */
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
