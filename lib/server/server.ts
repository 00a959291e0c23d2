/**
 * Creates the server: opens the storage, installs components, listens, and drains on close. Does not change process settings,
 * because the process may belong to another program.
 */
import type { Source } from '@rdfjs/types';
import type { Component } from '../component/component.js';
import type { Platform } from '../component/contract.js';
import type { Application } from '../http/app.js';
import type { Settings } from '../settings/settings.js';
import { quadsOf } from '../storage/transactions/quads.js';
import type { Store } from '../storage/transactions/store.js';
import type { Log } from '../tools/log.js';
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

/** Options in addition to the settings. */
export interface Equipment {
  readonly components: readonly Component[];
  readonly log: Log;
  /** Shows the progress of long work at startup. Absent: not shown. */
  readonly progress?: Platform['progress'];
}

export interface Server {
  /** `lws.base-uri`, without a trailing slash. */
  readonly baseUri: string;
  /** The koa application, which answers every request. `app.callback()` is a listener for `node:http`. */
  readonly app: Application['koa'];
  /** Middleware for another koa application. Requests outside the base URI are passed on. */
  readonly middleware: Application['middleware'];
  /** Listener for the `upgrade` event of an HTTP server, for WebSockets. */
  readonly upgrade: Upgrade;
  readonly store: Store;
  /** All quads, read from a new snapshot for each call. Without access control. */
  readonly quads: Source;
  /** Key file of the owner, if the server generated one (rule 5.1). */
  readonly mintedOwner: string | undefined;
  /** Starts an HTTP server on the configured port. @returns the port @throws the socket error */
  listen(): Promise<number>;
  /** Reloads the certificate, if there is one. Errors go to the log. */
  reload(): void;
  /** Rejects new requests, answers pending ones and closes the storage. */
  close(): Promise<void>;
}

/**
 * Creates process resources, opens the storage and installs the components.
 * @throws SettingsError for invalid settings, StoreUnavailableError if the storage cannot be opened
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

/** Maximum time for pending requests of a closing server, in milliseconds: usually, and after their connections are closed. */
const [endMs, endUnconnectedMs] = [10_000, 1_000];

/** Opens the storage with all components, ready for requests. Does not change process settings. @throws as `prepareServer` */
export async function createServer(settings: Settings, equipment: Equipment): Promise<Server> {
  const { components } = equipment;
  const certificates = certificatesOf(settings, equipment);
  assertUsable(settings, components);
  const core = settings.of(coreSettings);
  const registry = StorageRegistry.of(settings, components, (err) =>
    equipment.log.error({ err }, 'the record of a storage cannot be read; the storage is not served'),
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
    quads: quadsOf(home.storage.store.level),
    mintedOwner: home.mintedOwner,
    async listen() {
      if (door || ended) throw new Error(ended ? 'The server is closed.' : 'The server is already listening.');
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
