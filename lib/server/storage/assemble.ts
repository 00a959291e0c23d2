/** Creates the layers and components of a storage from the settings. */
import { createHmac } from 'node:crypto';
import { accessTokenSuites, type TrustedIssuer } from '../../authentication/access-token.js';
import { RememberingAuthenticator } from '../../authentication/authenticate.js';
import { identifierResolver } from '../../authentication/controlled-identifier.js';
import { dpopVerifier } from '../../authentication/dpop.js';
import { issuerKeys, wellKnownOf } from '../../authentication/issuer-keys.js';
import type { Suite } from '../../authentication/suite.js';
import { AclIndex } from '../../authorization/acl-index.js';
import { AddedOwners } from '../../authorization/added-owners.js';
import { createAuthorizer, noteReaders, type PermissionSource } from '../../authorization/authorizer.js';
import { createGroups } from '../../authorization/groups.js';
import { ownerModel } from '../../authorization/owner-mode.js';
import { withTrash } from '../../authorization/trash.js';
import { WacModel } from '../../authorization/wac.js';
import type { Component } from '../../component/component.js';
import type { Installation, Platform } from '../../component/contract.js';
import type { Administration, Authentication } from '../../component/services.js';
import { pauseUpdates } from '../../documents/update-gate.js';
import type { AppContext } from '../../http/app-context.js';
import { graphStorePath } from '../../http/graph-store.js';
import { factsFor } from '../../http/resource-facts.js';
import { urlOfRoute } from '../../http/route.js';
import { describeStorage, type VerificationMethod } from '../../http/storage-description.js';
import { explainDecision } from '../../resources/explanation.js';
import { folderSize } from '../../resources/folder-size.js';
import { followMembers } from '../../resources/member-counts.js';
import { Representations } from '../../resources/representations.js';
import type { Storage } from '../../resources/storage.js';
import { ensureRootAcl } from '../../resources/storage-root.js';
import { profiles } from '../../settings/profile.js';
import { describeSettings, type Settings } from '../../settings/settings.js';
import { openSnapshots } from '../../storage/graphs/snapshot.js';
import { canReturnDeleted } from '../../storage/level/durable-level.js';
import { ownsAny } from '../../storage/level/owned-entries.js';
import { folderOf } from '../../storage/level/shared-level.js';
import type { Store } from '../../storage/transactions/store.js';
import { type Metric, metric } from '../../tools/metrics.js';
import type { GuardedFetch } from '../../tools/outbound/guarded-fetch.js';
import { asTyped, packageVersion } from '../../tools/threads/package-root.js';
import type { CoreSettings } from '../settings/core-settings.js';
import type { ServerProcess } from './process.js';
import { resourceMetadataOf, resourceMetadataRoutes } from './resource-metadata.js';
import { systemRoutes } from './system-routes.js';

/** Parts of the server that a storage needs. */
export interface AssemblyContext extends Pick<Platform, 'deployment' | 'signingKey' | 'request' | 'formats'> {
  readonly read: Administration['read'];
  readonly settings: Settings;
  readonly process: ServerProcess;
  /** Id of the last change of the owners by an operator. */
  readonly ownersChange?: string | undefined;
  /** Storage of `lws.base-uri`, if the assembled storage is another one of the same deployment. */
  readonly home:
    | (Pick<AssemblyContext, 'installations'> & { readonly platform: Pick<Platform, 'rootIri'> })
    | undefined;
  /** Installed components. Filled later, and read when requests arrive. */
  readonly installations: readonly Installation[];
}

export async function assembleStorage(
  core: CoreSettings,
  iri: string,
  store: Store,
  owners: readonly string[],
  { process: { documents, fetchUnder, log }, installations, ownersChange: change }: AssemblyContext,
): Promise<{ readonly storage: Storage; readonly addedOwners: AddedOwners | undefined }> {
  const { requestBytes, binaryBytes, linksetBytes, quotaBytes, pageSize } = core;
  const acls = core.accessControl === 'wac' ? await AclIndex.open(store) : undefined;
  const added = acls ? undefined : await AddedOwners.open(store);
  const groups = createGroups({
    storage: iri,
    store,
    documents,
    fetch: fetchUnder(),
    keptMs: core.groupCache * 1000,
    failureKeptMs: core.groupFailureCache * 1000,
    log,
  });
  const base = acls
    ? new WacModel({
        ...{ storage: iri, view: store, index: acls, groups, maxFetches: core.groupFetches },
        onReturned: (of) => store.returned.damaged(`The ACL of ${of} is not the last one written. It has no effect.`),
      })
    : ownerModel({
        owners,
        ...(added ? { added } : {}),
        publicRead: core.publicRead,
        owns: (subject) => ownsAny(store.level, subject),
        open: core.devOpen,
      });
  const offered = offeredBy(installations);
  const permissions = () => offered('permissions') as readonly PermissionSource[];
  const storage = {
    rootIri: iri,
    systemPrefix: core.systemPrefix,
    store,
    documents,
    representations: new Representations(store, core.cacheBytes),
    authorizer: withTrash(createAuthorizer(base, iri, permissions), iri, store),
    acls,
    get queries() {
      return installations.some(({ resourceQuery }) => resourceQuery);
    },
    mask: core.mask,
    signposting: core.signposting,
    profile: core.profile ? profiles[core.profile] : undefined,
    limits: { requestBytes, binaryBytes, linksetBytes, quotaBytes, pageSize },
    requireConditionalWrites: core.requireConditionalWrites,
    clock: Date.now,
  };
  store.beforeReopening(() => pauseUpdates(folderOf(store.level)));
  store.onTransaction((tx) => noteReaders(tx, storage.authorizer));
  followMembers(store);
  if (acls) await ensureRootAcl(storage, acls, { owners, publicRead: core.publicRead, change });
  return { storage, addedOwners: added };
}

const assembleDpop = (
  { dpopNonce: requireNonce, dpopCache: cacheSize, dpopOnly: required }: CoreSettings,
  { store, clock }: Storage,
  { key }: Platform['signingKey'],
): Authentication['dpop'] => ({
  ...dpopVerifier({
    ...{ requireNonce, cacheSize, clock },
    // The secret is derived from the key, so that exactly the servers with this key share it.
    nonceSecret: createHmac('sha256', key.export({ format: 'der', type: 'pkcs8' }))
      .update('dpop')
      .digest(),
    isFirst: (id, validMs) => store.coordination.isFirst(id, validMs),
  }),
  required,
});

/** Returns a function that collects a property of all installed components. Results are cached until another is installed. */
function offeredBy(installations: readonly Installation[]): (name: keyof Installation) => readonly unknown[] {
  const known = new Map<keyof Installation, { readonly count: number; readonly values: readonly unknown[] }>();
  return (name) => {
    let own = known.get(name);
    if (own?.count !== installations.length) {
      const values = installations.flatMap((each): unknown => {
        const value = each[name] ?? [];
        return typeof value === 'function' ? value.bind(each) : value;
      });
      own = { count: installations.length, values };
      known.set(name, own);
    }
    return own.values;
  };
}

/** Creates the platform object for components. */
export function assemblePlatform(
  core: CoreSettings,
  { storage: assembled, addedOwners }: Awaited<ReturnType<typeof assembleStorage>>,
  context: AssemblyContext,
): Platform {
  const { settings, process, home, installations, deployment, signingKey, read, request, formats } = context;
  const { fetchUnder, log, progress } = process;
  const { rootIri: storage, systemPrefix, store, documents, authorizer, mask, profile, clock } = assembled;
  const baseUri = storage.slice(0, -1);
  const fetch = fetchUnder();
  // RFC 7519 4.1.3 compares audiences as strings. Clients use the base URI with and without a trailing slash.
  const accepted = new Set([
    baseUri,
    storage,
    urlOfRoute({ baseUri, systemPrefix }, '{prefix}/token'),
    ...core.audience,
  ]);
  return {
    baseUri,
    rootIri: storage,
    systemPrefix,
    ...{ store, storage: assembled, documents, authorizer, mask, profile, request },
    facts: (access, iri) => factsFor(assembled, access, iri),
    ...{ clock, log },
    dataDir: core.dataDir,
    fetch,
    fetchUnder,
    signingKey,
    throttle: process.throttle,
    tally: (kind) => process.tallies.of(kind, storage),
    offered: offeredBy(installations) as Platform['offered'],
    ...{ progress, formats, deployment },
    home: home?.platform.rootIri ?? (deployment && storage),
    authentication: {
      audience: { accepted, required: core.audienceRequired },
      identifiers: identifierResolver({ fetch, documents }),
      dpop: assembleDpop(core, assembled, signingKey),
    },
    administration: {
      ...{ addedOwners, read },
      explain: (request) => explainDecision(assembled, request),
      folderSize: (access, iri) => folderSize(assembled, access, iri),
      metrics: async () => [
        ...storeMeasures(store, core.quotaBytes),
        ...(deployment?.metrics ?? []),
        ...(await Promise.all(installations.map((installation) => installation.metrics?.() ?? []))).flat(),
      ],
      version: packageVersion(),
      executable: asTyped(),
      // A storage of a deployment does not show settings that the operator sets for all storages.
      describeSettings: () => describeSettings(settings, home !== undefined),
    },
  };
}

/** Installs enabled components and notifies disabled components. */
export async function installAll(
  components: readonly Component[],
  settings: Settings,
  platform: Platform,
  installations: Installation[],
): Promise<void> {
  for (const component of components) {
    const own = settings.of(component.settings);
    if (component.isEnabled(own)) installations.push(await component.install(platform, own));
    else await component.onDisabled?.(platform);
  }
}

const trustedIssuer = (issuer: string, fetch: GuardedFetch, clock: () => number): TrustedIssuer => ({
  issuer,
  ...issuerKeys({ fetch, issuer, metadataUrl: wellKnownOf(issuer, 'lws-configuration'), clock }),
});

/** Returns the suites for credentials in requests: access tokens, and all other suites if direct presentation is on. */
function storageSuites(core: CoreSettings, platform: Platform, issuers: readonly TrustedIssuer[]): Suite[] {
  const audiences = new Set([platform.rootIri, platform.baseUri]);
  const { all, ofTrusted } = accessTokenSuites({ issuers: () => issuers, audiences });
  if (!core.acceptCredentials) return [all];
  const suites = platform.offered('suites');
  // Rule 20.11: access tokens of OpenID providers can have the same format, so their suite comes first.
  return platform.profile?.tokenScopes ? [ofTrusted, ...suites, all] : [all, ...suites];
}

const catalogTextsOf = (core: CoreSettings) => ({
  title: core.catalogTitle,
  description: core.catalogDescription,
  publisher: core.catalogPublisher,
});

export function assembleAppContext(
  core: CoreSettings,
  { storage, platform }: { readonly storage: Storage; readonly platform: Platform },
  context: AssemblyContext & { readonly verificationMethods: readonly VerificationMethod[] },
): AppContext {
  const { process, home, installations, verificationMethods } = context;
  const description = describeStorage(storage, {
    services: [
      {
        type: 'https://www.w3.org/TR/sparql11-http-rdf-update/',
        serviceEndpoint: `${platform.baseUri}${storage.systemPrefix}${graphStorePath}`,
      },
      ...installations.flatMap(({ services = [] }) => services),
    ],
    capabilities: installations.flatMap(({ capabilities = [] }) => capabilities),
    verificationMethods,
    catalog: core.signposting ? catalogTextsOf(core) : undefined,
  });
  // Fetches for issuers that the operator has configured do not wait behind other fetches.
  const trusted = platform.fetchUnder({ blockPrivateAddresses: core.fetchBlock, allowedHosts: core.fetchAllowed });
  const embedded = installations.flatMap(({ authorizationServer }) => authorizationServer ?? []);
  const issuers = [...embedded, ...core.trustedIssuers.map((issuer) => trustedIssuer(issuer, trusted, platform.clock))];
  const challenge = {
    realm: storage.rootIri,
    authorizationServer: issuers[0]?.issuer,
    resourceMetadata: resourceMetadataOf(storage.rootIri),
    dpopOnly: core.dpopOnly,
    scope: core.acceptCredentials ? storage.profile?.tokenScopes : undefined,
  };
  const metadata = resourceMetadataRoutes(
    challenge,
    issuers.map(({ issuer }) => issuer),
  );
  return {
    storage,
    description,
    authenticator: new RememberingAuthenticator({
      suites: storageSuites(core, platform, issuers),
      dpop: platform.authentication.dpop,
      dpopOnly: core.dpopOnly,
      failures: process.failures,
    }),
    routes: [systemRoutes(storage, description), metadata, installations.flatMap(({ routes = [] }) => routes)].flat(),
    resourceQuery: installations.find(({ resourceQuery }) => resourceQuery)?.resourceQuery,
    resourceMethods: installations.find(({ resourceMethods }) => resourceMethods)?.resourceMethods,
    earlierStates: installations.find(({ earlierStates }) => earlierStates)?.earlierStates,
    pages: installations.find(({ pages }) => pages)?.pages,
    ...{ challenge, cors: { allowedOrigins: core.corsOrigins, maxAgeSeconds: core.corsMaxAge } },
    ...{ requireHttps: core.requireHttps, hstsSeconds: core.hstsMaxAge, behindProxy: core.behindProxy },
    ...{ isOpen: core.devOpen, idleMs: core.idleSeconds * 1000 },
    origin: new URL(storage.rootIri).origin,
    log: platform.log,
    onCaller: process.onCaller?.(storage),
    // Metrics of the process include the requests to all storages.
    onAnswered: [
      process.answered,
      ...(home ?? { installations }).installations.flatMap(({ onAnswered }) => onAnswered ?? []),
    ],
  };
}

const storeMeasures = (store: Store, quotaBytes: number): readonly Metric[] => [
  metric('gauge', 'store_bytes', 'Bytes that count against the quota.', store.bytes),
  metric('gauge', 'store_quota_bytes', 'Quota in bytes; 0 for no limit.', quotaBytes),
  metric(
    'gauge',
    'store_resources',
    'Resources, including containers and those in the trash.',
    store.commits.counts.resources,
  ),
  metric('gauge', 'store_quads', 'Triples of resources and linksets.', store.commits.counts.quads),
  metric('gauge', 'store_transactions_waiting', 'Transactions running or waiting.', store.commits.waiting),
  metric(
    'gauge',
    'store_failed',
    '1 while the disk accepts no writes.',
    Number(store.commits.hasFailed || !store.isOpen),
  ),
  metric(
    'gauge',
    'store_deleted_can_return',
    '1 if LevelDB has a defect that can bring deleted data back in this storage.',
    Number(canReturnDeleted(store.level)),
  ),
  metric(
    'counter',
    'store_returned_quads_total',
    'Deleted triples that LevelDB returned, found by the digests of graphs.',
    store.returned.counts.quads,
  ),
  metric(
    'counter',
    'store_returned_entries_total',
    'Other entries that LevelDB returned, or that do not match their digest.',
    store.returned.counts.entries,
  ),
  metric('gauge', 'store_snapshots_open', 'Open snapshots of the HTTP thread.', openSnapshots(store.level)),
];
