/**
 * The server as a whole: opens the storage, installs the components, listens, and drains when it is told to close. It must
 * not know the process that it runs in, which may be somebody else's.
 */
import type { Component, Platform } from '../component/contract.js';
import type { Application } from '../http/app.js';
import type { Log } from '../log.js';
import type { Settings } from '../settings.js';
import type { Store } from '../storage/transactions/store.js';
import { certificatesOf } from './listeners/certificates.js';
import { createListeners, type Door } from './listeners/listeners.js';
import { coreSettings } from './settings/core-settings.js';
import { rememberAddress } from './settings/stored-base-uri.js';
import { openStorage, type PreparedStorage, prepareStorage } from './storage/open-storage.js';
import { makeProcess } from './storage/process.js';
import { acceptUpgrades, takesUpgrades, type Upgrade } from './storage/upgrades.js';
import { assertUsable } from './storage/usable-settings.js';
import { StorageDeployment } from './storages/deployment.js';
import { StorageRegistry } from './storages/storage-registry.js';

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
  readonly upgrade: Upgrade;
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

/**
 * Makes what is the process's, opens the storage and installs the components.
 * @throws SettingsError for settings that cannot work, StoreUnavailableError when the storage cannot be opened
 */
export async function prepareServer(
  settings: Settings,
  { components, ...equipment }: Equipment,
): Promise<PreparedStorage> {
  assertUsable(settings, components);
  const process = makeProcess(settings.of(coreSettings), equipment);
  const prepared = await prepareStorage(settings, components, { process }).catch(async (error: unknown) => {
    await process.close();
    throw error;
  });
  const close = async (): Promise<void> => {
    await process.close();
    await prepared.close();
  };
  return { ...prepared, close };
}

/** Milliseconds that requests under way get to end; fewer once their connections are closed. */
const [endMs, endUnconnectedMs] = [10_000, 1_000];

/**
 * Opens the storage with everything on it, ready to be asked. It touches nothing of the process.
 * @throws as `prepareServer`
 */
export async function createServer(settings: Settings, equipment: Equipment): Promise<Server> {
  const { components } = equipment;
  const certificates = certificatesOf(settings, equipment);
  assertUsable(settings, components);
  const core = settings.of(coreSettings);
  const registry = StorageRegistry.of(settings, components, (err) =>
    equipment.log.error({ err }, 'a record of a storage cannot be read, which is not served'),
  );
  const process = makeProcess(core, equipment);
  const deployment = registry && new StorageDeployment(registry, process);
  const home = await openStorage(settings, components, { process, deployment }).catch(async (error: unknown) => {
    await process.close();
    throw error;
  });
  rememberAddress(core.dataDir, core.storagesAddress, 'storages-address');
  deployment?.start(home);
  let door: Door | undefined;
  const end = async (): Promise<void> => {
    home.drain();
    await Promise.all([deployment?.close(), door?.close(endMs)]);
    await home.close(door ? endUnconnectedMs : endMs);
    await process.close();
  };
  let ended: Promise<void> | undefined;
  const { listener, upgrade } = deployment ?? home;
  return {
    baseUri: home.storage.rootIri.slice(0, -1),
    app: home.app.koa,
    middleware: home.app.middleware,
    upgrade: home.upgrade,
    store: home.storage.store,
    quads: home.platform.quads,
    mintedOwner: home.mintedOwner,
    async listen() {
      if (door || ended) throw new Error(ended ? 'The server is closed.' : 'The server listens already.');
      door = createListeners(core, {
        app: listener,
        challenge: home.appContext.challenge,
        certificates,
        originAt: registry && ((host) => registry.addresses.originAt(host)),
        onServer: (http) => acceptUpgrades(http, deployment || takesUpgrades(home.installations) ? upgrade : undefined),
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
