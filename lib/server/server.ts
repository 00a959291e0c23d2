/** The server as a whole: opens the storage, installs the components, listens, and drains when it is told to stop. */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAuthenticator } from '../authentication/authenticate.js';
import { ownerAuthorizer } from '../authorization/authorizer.js';
import type { Component, House, Installation } from '../component.js';
import { LwsError } from '../errors.js';
import { formatLink } from '../fields/link.js';
import { createApp } from '../http/app.js';
import { problemReply } from '../http/problem.js';
import { describeStorage, type VerificationMethod } from '../http/storage-description.js';
import type { Log } from '../log.js';
import { lws } from '../rdf/vocabulary.js';
import { Representations } from '../resources/representations.js';
import type { Storage } from '../resources/storage.js';
import { ensureRoot } from '../resources/storage-root.js';
import type { Settings } from '../settings.js';
import { Documents } from '../storage/documents.js';
import type { Store } from '../storage/store.js';
import { assertUsable, type CoreSettings, coreSettings, readBaseUri } from './core-settings.js';
import { keptKey } from './kept-key.js';
import { openStore } from './open-store.js';
import { keptIdentity } from './owner-credential.js';
import { progressOn } from './progress.js';
import { systemRoutes } from './system-routes.js';
import { verificationMethodOf } from './verification-method.js';

export interface RunningServer {
  readonly baseUri: string;
  readonly port: number;
  readonly store: Store;
  /** The file of the owner's key, when the server minted one (open-points 1.5). */
  readonly mintedOwner: string | undefined;
  /** Takes no new connection, answers what is under way, closes the storage. */
  stop(): Promise<void>;
}

/** Milliseconds that requests under way get to end at a stop. */
const drainMs = 10_000;

/**
 * Starts the server.
 * @throws SettingsError for settings that cannot work, StoreUnavailableError when the storage cannot be opened
 */
export async function startServer(
  settings: Settings,
  components: readonly Component[],
  log: Log,
): Promise<RunningServer> {
  const core = settings.of(coreSettings);
  assertUsable(core);
  const { url, storage: iri, loopback } = readBaseUri(core);
  const mintedOwner = core.owners.length === 0 && !core.devOpen ? join(core.dataDir, 'owner.key') : undefined;
  const store = await openStore(core.dataDir, iri, (message, error) => log.error({ err: error }, message));
  try {
    await ensureRoot(store, iri, Date.now());
    const owners = mintedOwner ? [keptIdentity(mintedOwner).did] : core.owners;
    const storage = assembleStorage(core, iri, store, owners);
    const house = assembleHouse(core, storage, log);
    const installations = await installAll(components, settings, house);
    const verificationMethods = [await verificationMethodOf(keptKey(join(core.dataDir, 'webhook.key')), iri)];
    const app = createApp(assembleSite(core, storage, installations, verificationMethods, log));
    const server = createHttpServer(app, iri);
    const port = await listen(server, core, url, loopback);
    for (const { start } of installations) await start?.();
    storage.documents.warm();
    return {
      baseUri: house.baseUri,
      port,
      store,
      mintedOwner,
      stop: () => stop(server, storage, installations),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function assembleStorage(core: CoreSettings, iri: string, store: Store, owners: readonly string[]): Storage {
  const { requestBytes, binaryBytes, linksetBytes, quotaBytes, pageSize } = core;
  return {
    storage: iri,
    systemPrefix: core.systemPrefix,
    store,
    documents: new Documents({ updateTimeoutMs: core.updateTimeout * 1000 }),
    representations: new Representations(store, core.cacheBytes),
    authorizer: ownerAuthorizer({ owners, publicRead: core.publicRead, open: core.devOpen }),
    mask: core.mask,
    limits: { requestBytes, binaryBytes, linksetBytes, quotaBytes, pageSize },
    requireConditionalWrites: core.requireConditionalWrites,
    clock: Date.now,
  };
}

function assembleHouse(
  core: CoreSettings,
  { storage, systemPrefix, store, authorizer, clock }: Storage,
  log: Log,
): House {
  const baseUri = storage.slice(0, -1);
  // RFC 7519 4.1.3 compares audiences as texts; people write the base URI with and without its slash.
  const accepted = new Set([baseUri, storage, ...core.audience]);
  const audience = { accepted, required: core.audienceRequired };
  const progress = (label: string) => progressOn(process.stderr, label);
  return { baseUri, storage, systemPrefix, store, authorizer, clock, log, progress, audience };
}

async function installAll(components: readonly Component[], settings: Settings, house: House): Promise<Installation[]> {
  const installations: Installation[] = [];
  for (const component of components) {
    const own = settings.of(component.settings);
    if (component.isEnabled(own)) installations.push(await component.install(house, own));
    else await component.retire?.(house);
  }
  return installations;
}

function assembleSite(
  core: CoreSettings,
  storage: Storage,
  installations: readonly Installation[],
  verificationMethods: readonly VerificationMethod[],
  log: Log,
) {
  const description = describeStorage(storage.storage, {
    services: installations.flatMap(({ services = [] }) => services),
    capabilities: installations.flatMap(({ capabilities = [] }) => capabilities),
    verificationMethods,
  });
  return {
    storage,
    description,
    authenticator: createAuthenticator(installations.flatMap(({ suites = [] }) => suites)),
    routes: [...systemRoutes(storage, description), ...installations.flatMap(({ routes = [] }) => routes)],
    cors: { allowedOrigins: core.corsOrigins, maxAgeSeconds: core.corsMaxAge },
    requireHttps: core.requireHttps,
    hstsSeconds: core.hstsMaxAge,
    behindProxy: core.behindProxy,
    idleMs: core.idleSeconds * 1000,
    log,
  };
}

function createHttpServer(app: RequestListener, storage: string): Server {
  // A body may take hours; pauses within it are bounded instead (lws.request-idle-seconds).
  const server = createServer(
    {
      requestTimeout: 0,
      headersTimeout: 30_000,
      keepAliveTimeout: 75_000,
      requireHostHeader: false,
      // A type search may name 256 IRIs, and a SAML assertion is a header field too.
      maxHeaderSize: 64 << 10,
    },
    app,
  );
  // Decided by the application: it asks for the body once it wants it.
  server.on('checkContinue', app).on('checkExpectation', app);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
    const refusal = tooLong
      ? new LwsError('fields-too-large', 'The header fields are too long.')
      : new LwsError('bad-request', 'This is not HTTP/1.1.');
    const { fields, body } = problemReply(refusal, `urn:uuid:${randomUUID()}`, storage);
    const lines = Object.entries({ ...fields, Link: formatLink(storage, lws.storage) }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const status = tooLong ? '431 Request Header Fields Too Large' : '400 Bad Request';
    const length = (body as Buffer).length;
    socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`);
  });
  return server;
}

function listen(server: Server, core: CoreSettings, url: URL, loopback: boolean): Promise<number> {
  const port = core.listenPort ?? (Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
  const host = core.listenHost ?? (loopback ? (url.hostname === '[::1]' ? '::1' : '127.0.0.1') : undefined);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

async function stop(server: Server, storage: Storage, installations: readonly Installation[]): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const impatient = setTimeout(() => server.closeAllConnections(), drainMs);
  // Connections that become idle while others are drained.
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  await closed;
  clearTimeout(impatient);
  clearInterval(idle);
  for (const installation of [...installations].reverse()) await installation.stop?.();
  await storage.documents.close();
  await storage.store.close();
}
