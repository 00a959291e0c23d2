/** The server as a whole: opens the storage, installs the components, listens, and drains when it is told to stop. */
import { join } from 'node:path';
import type { Component, Installation } from '../component.js';
import { createApp } from '../http/app.js';
import type { Log } from '../log.js';
import { ensureRoot } from '../resources/storage-root.js';
import type { Settings } from '../settings.js';
import type { Store } from '../storage/store.js';
import { assembleHouse, assembleSite, assembleStorage, installAll } from './assemble.js';
import { assertUsable, coreSettings, readBaseUri } from './core-settings.js';
import { createHttpServer, drain, listen } from './http-server.js';
import { keptKey } from './kept-key.js';
import { openStore } from './open-store.js';
import { outboundFetch } from './outbound-fetch.js';
import { keptIdentity } from './owner-credential.js';
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
    const installations: Installation[] = [];
    const surroundings = { fetch: outboundFetch(core), log, installations };
    const storage = await assembleStorage(core, iri, store, owners, surroundings);
    const house = assembleHouse(core, storage, surroundings);
    await installAll(components, settings, house, installations);
    const verificationMethods = [await verificationMethodOf(keptKey(join(core.dataDir, 'webhook.key')), iri)];
    const site = assembleSite(core, storage, house, installations, verificationMethods);
    const server = createHttpServer(createApp(site), site.challenge);
    const port = await listen(server, core, url, loopback);
    for (const { start } of installations) await start?.();
    storage.documents.warm();
    return {
      baseUri: house.baseUri,
      port,
      store,
      mintedOwner,
      async stop() {
        await drain(server);
        for (const installation of [...installations].reverse()) await installation.stop?.();
        await storage.documents.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
