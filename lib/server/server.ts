/**
 * The server as a whole: opens the storage, installs the components, listens, and drains when it is told to close. It must
 * not know the process that it runs in, which may be somebody else's.
 */
import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import type { Component, Installation, Platform } from '../component/contract.js';
import { type Application, createApp } from '../http/app.js';
import type { AppContext } from '../http/app-context.js';
import { read as readResource } from '../http/resource-routes.js';
import type { Log } from '../log.js';
import type { Storage } from '../resources/storage.js';
import { ensureRoot } from '../resources/storage-root.js';
import type { Settings } from '../settings.js';
import type { Store } from '../storage/engine/store.js';
import { databaseAddress } from '../storage/shared/address.js';
import { type AssemblyContext, assembleAppContext, assemblePlatform, assembleStorage, installAll } from './assemble.js';
import { certificatesOf } from './certificates.js';
import { type CoreSettings, coreSettings, readBaseUri } from './core-settings.js';
import { createDoor, type Door } from './door.js';
import { keptKey } from './kept-key.js';
import { blobPlaceOf, formatsOf, openStore } from './open-store.js';
import { ownOwner } from './own-owner.js';
import { makeProcess, type ServerProcess } from './process.js';
import { acceptUpgrades, upgradeListener } from './upgrades.js';
import { assertUsable } from './usable-settings.js';
import { oldVerificationMethod, verificationMethodOf } from './verification-method.js';

/** What a server is made with, beside its settings. */
export interface Equipment {
  readonly components: readonly Component[];
  readonly log: Log;
  /** Shows how far long work at the start is; absent: nobody is shown. */
  readonly progress?: Platform['progress'];
}

export interface Server {
  /** `lws.base-uri`, without a slash at its end. */
  readonly baseUri: string;
  /** The koa application, which answers whatever it is asked: `app.callback()` is a listener for `node:http`. */
  readonly app: Application['koa'];
  /** For a koa application of one's own: what is not below the base URI continues to the middleware after it. */
  readonly middleware: Application['middleware'];
  /** For an HTTP server of one's own: a listener for its event `upgrade`, where WebSockets are opened. */
  readonly upgrade: ReturnType<typeof upgradeListener>;
  readonly store: Store;
  /** All quads, read with quadstore from one snapshot each time. Nothing is authorized here. */
  readonly quads: Platform['quads'];
  /** The file of the owner's key, when the server minted one (rule 5.1). */
  readonly mintedOwner: string | undefined;
  /**
   * Listens where the settings say, with an HTTP server of its own.
   * @returns the port
   * @throws the error of the socket when the port cannot be had
   */
  listen(): Promise<number>;
  /** Reads the certificate again now, where there is one; one that cannot be used is an error in the log. */
  reload(): void;
  /** Takes nothing new, answers what is under way, closes the storage. */
  close(): Promise<void>;
}

/** The storage with everything that is installed on it, before anybody can ask. */
export interface PreparedServer {
  readonly core: CoreSettings;
  readonly storage: Storage;
  readonly platform: Platform;
  readonly owners: readonly string[];
  readonly appContext: AppContext;
  readonly installations: readonly Installation[];
  readonly mintedOwner: string | undefined;
  close(): Promise<void>;
}

/**
 * Makes what is the process's, opens the storage and installs the components.
 * @throws SettingsError for settings that cannot work, StoreUnavailableError when the storage cannot be opened
 */
export async function prepareServer(
  settings: Settings,
  { components, ...equipment }: Equipment,
): Promise<PreparedServer> {
  assertUsable(settings, components);
  const process = makeProcess(settings.of(coreSettings), equipment);
  const prepared = await prepareStorage(settings, components, process).catch(async (error: unknown) => {
    await process.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await process.close();
    await prepared.close();
  };
  return { ...prepared, close };
}

/** Opens one storage, and installs the components on it. @throws as `prepareServer` */
async function prepareStorage(
  settings: Settings,
  components: readonly Component[],
  process: ServerProcess,
): Promise<PreparedServer> {
  const core = settings.of(coreSettings);
  const { log, progress } = process;
  const { storage: iri } = readBaseUri(core);
  const mintedOwner = core.owners.length === 0 && !core.devOpen ? join(core.dataDir, 'owner.key') : undefined;
  const store = await openStore(core.dataDir, iri, {
    database: databaseAddress(core),
    blobPlace: blobPlaceOf(settings, components),
    onTrouble: (message, error) => log.error({ err: error }, message),
    onRecovery: (message) => log.warn(message),
    onMigration: (message) => log.warn(message),
    onProgress: migrating(progress),
    quotaBytes: core.quotaBytes,
  });
  try {
    await ensureRoot(store, iri, Date.now());
    const owners = mintedOwner ? [await ownOwner(store, mintedOwner)] : core.owners;
    const installations: Installation[] = [];
    const webhookKey = keptKey(join(core.dataDir, 'webhook.key'));
    const method = await verificationMethodOf(webhookKey, iri);
    const signingKey = { keyId: method.id, key: createPrivateKey({ key: { ...webhookKey }, format: 'jwk' }) };
    const read: AssemblyContext['read'] = ({ req, access }, resource) =>
      readResource({
        storage,
        description: appContext.description,
        req,
        access,
        target: { iri: resource, query: undefined },
      });
    const formats = formatsOf(settings, components);
    const assembly = { settings, process, signingKey, read, formats, installations };
    const assembled = await assembleStorage(core, iri, store, owners, assembly);
    const { storage } = assembled;
    const platform = assemblePlatform(core, assembled, assembly);
    await installAll(components, settings, platform, installations);
    process.warms.push(...installations.flatMap(({ warm }) => warm ?? []));
    const { storageLinks } = storage.profile ?? {};
    storage.links = [
      ...(storageLinks ? [{ target: iri, relation: storageLinks.relation }] : []),
      ...installations.flatMap(({ links = [] }) => links),
    ];
    const oldMethod = await oldVerificationMethod(join(core.dataDir, 'webhook-old.key'), iri, Date.now());
    const verificationMethods = [method, ...(oldMethod ? [oldMethod] : [])];
    const all = { ...assembly, verificationMethods };
    const appContext: AppContext = assembleAppContext(core, { storage, platform }, all);
    const close = (): Promise<void> => store.close();
    return { core, storage, platform, owners, appContext, installations, mintedOwner, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Nothing is said of migrations that do not take place. */
function migrating(progress: Platform['progress']): (done: number) => void {
  let told: ReturnType<typeof progress> | undefined;
  return (done) => {
    told ??= progress('Migrating the storage');
    told(done, Number.POSITIVE_INFINITY, `${done} records`);
  };
}

/** Milliseconds that requests under way get to end; fewer once their connections are closed. */
const [endMs, endUnconnectedMs] = [10_000, 1_000];

/**
 * Opens the storage with everything on it, ready to be asked. It touches nothing of the process.
 * @throws as `prepareServer`
 */
export async function createServer(settings: Settings, equipment: Equipment): Promise<Server> {
  const certificates = certificatesOf(settings, equipment);
  const prepared = await prepareServer(settings, equipment);
  const { core, storage, platform, appContext, installations, mintedOwner, close } = prepared;
  const app = createApp(appContext);
  const stopInstalled = async (): Promise<void> => {
    for (const installation of [...installations].reverse()) await installation.stop?.();
  };
  try {
    await storage.store.shared?.serve();
    for (const { start } of installations) await start?.();
  } catch (error) {
    await stopInstalled();
    await close();
    throw error;
  }
  let door: Door | undefined;
  const end = async (): Promise<void> => {
    for (const installation of installations) installation.drain?.();
    await door?.close(endMs);
    await app.close(door ? endUnconnectedMs : endMs);
    await stopInstalled();
    await close();
  };
  let ended: Promise<void> | undefined;
  return {
    baseUri: storage.rootIri.slice(0, -1),
    app: app.koa,
    middleware: app.middleware,
    upgrade: upgradeListener(installations),
    store: storage.store,
    quads: platform.quads,
    mintedOwner,
    async listen() {
      if (door || ended) throw new Error(ended ? 'The server is closed.' : 'The server listens already.');
      door = createDoor(core, {
        app: app.koa.callback(),
        challenge: appContext.challenge,
        certificates,
        onServer: (http) => acceptUpgrades(http, installations),
      });
      try {
        return await door.listen();
      } catch (error) {
        door = undefined;
        throw error;
      }
    },
    reload: () => certificates?.source?.reload(),
    close() {
      ended ??= end();
      return ended;
    },
  };
}
