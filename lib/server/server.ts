/** The server as a whole: opens the storage, installs the components, listens, and drains when it is told to stop. */
import { createPrivateKey } from 'node:crypto';
import { join } from 'node:path';
import type { Component, Installation } from '../component.js';
import { createApp, type Site } from '../http/app.js';
import type { Log } from '../log.js';
import type { Storage } from '../resources/storage.js';
import { ensureRoot } from '../resources/storage-root.js';
import type { Settings } from '../settings.js';
import type { Store } from '../storage/store.js';
import { assembleHouse, assembleSite, assembleStorage, installAll } from './assemble.js';
import { type CoreSettings, coreSettings, readBaseUri } from './core-settings.js';
import { createHttpServer, drain, listen } from './http-server.js';
import { keptKey } from './kept-key.js';
import { openStore } from './open-store.js';
import { outboundFetch } from './outbound-fetch.js';
import { keptIdentity } from './owner-credential.js';
import { assertUsable } from './usable-settings.js';
import { oldVerificationMethod, verificationMethodOf } from './verification-method.js';

export interface RunningServer {
  readonly baseUri: string;
  readonly port: number;
  readonly store: Store;
  /** The file of the owner's key, when the server minted one (open-points 1.5). */
  readonly mintedOwner: string | undefined;
  /** Takes no new connection, answers what is under way, closes the storage. */
  stop(): Promise<void>;
}

/** The storage with everything that is installed on it, before anybody can ask. */
export interface PreparedServer {
  readonly core: CoreSettings;
  readonly storage: Storage;
  readonly site: Site;
  readonly installations: readonly Installation[];
  readonly mintedOwner: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens the storage and installs the components.
 * @throws SettingsError for settings that cannot work, StoreUnavailableError when the storage cannot be opened
 */
export async function prepareServer(
  settings: Settings,
  components: readonly Component[],
  log: Log,
): Promise<PreparedServer> {
  const core = settings.of(coreSettings);
  assertUsable(core);
  const { storage: iri } = readBaseUri(core);
  const mintedOwner = core.owners.length === 0 && !core.devOpen ? join(core.dataDir, 'owner.key') : undefined;
  const store = await openStore(core.dataDir, iri, (message, error) => log.error({ err: error }, message));
  try {
    await ensureRoot(store, iri, Date.now());
    const owners = mintedOwner ? [keptIdentity(mintedOwner).did] : core.owners;
    const installations: Installation[] = [];
    const webhookKey = keptKey(join(core.dataDir, 'webhook.key'));
    const method = await verificationMethodOf(webhookKey, iri);
    const signingKey = { keyId: method.id, key: createPrivateKey({ key: { ...webhookKey }, format: 'jwk' }) };
    const surroundings = { fetchUnder: outboundFetch(core), signingKey, log, installations };
    const storage = await assembleStorage(core, iri, store, owners, surroundings);
    const house = assembleHouse(core, storage, surroundings);
    await installAll(components, settings, house, installations);
    const oldMethod = await oldVerificationMethod(join(core.dataDir, 'webhook-old.key'), iri, Date.now());
    const methods = [method, ...(oldMethod ? [oldMethod] : [])];
    const site = assembleSite(core, storage, house, installations, methods);
    const close = async (): Promise<void> => {
      await storage.documents.close();
      await store.close();
    };
    return { core, storage, site, installations, mintedOwner, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Starts the server.
 * @throws as `prepareServer`; the error of the socket when the port cannot be had
 */
export async function startServer(
  settings: Settings,
  components: readonly Component[],
  log: Log,
): Promise<RunningServer> {
  const { core, storage, site, installations, mintedOwner, close } = await prepareServer(settings, components, log);
  try {
    const { url, loopback } = readBaseUri(core);
    const server = createHttpServer(createApp(site), site.challenge);
    const port = await listen(server, core, url, loopback);
    for (const { start } of installations) await start?.();
    storage.documents.warm();
    return {
      baseUri: storage.storage.slice(0, -1),
      port,
      store: storage.store,
      mintedOwner,
      async stop() {
        for (const installation of installations) installation.drain?.();
        await drain(server);
        for (const installation of [...installations].reverse()) await installation.stop?.();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
