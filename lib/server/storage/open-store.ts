/** Opens the storage of a data directory, with error messages for the operator. */
import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Component } from '../../component/component.js';
import { writeLinksetGraphs } from '../../resources/linkset-migration.js';
import { type Settings, SettingsError } from '../../settings/settings.js';
import type { BlobPlace } from '../../storage/blobs/blobs.js';
import { assertRestored } from '../../storage/graphs/adopt.js';
import { Replica } from '../../storage/graphs/replica.js';
import { newReplicaThread } from '../../storage/graphs/replica-thread.js';
import { type Level, openLevel, StoreUnavailableError } from '../../storage/level/durable-level.js';
import { makeFolder } from '../../storage/level/synced-files.js';
import { type Coordination, type JoinOptions, singleServer } from '../../storage/transactions/coordination.js';
import { Store, type StoreOptions } from '../../storage/transactions/store.js';
import { coreSettings } from '../settings/core-settings.js';
import { rememberAddress } from '../settings/stored-base-uri.js';

/** Returns why a directory could not be created. Node's recursive mkdir reports ENOENT on a read-only disk. */
const whyNotMade = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'ENOENT'
    ? 'the disk is read-only, or no directory can be created there'
    : (error as Error).message;

/** Open data directories. LevelDB lets servers of one process open the same database, because threads may do that. */
const inUse = new Set<string>();

/** Returns true if a data directory has a storage, which may be damaged. */
export const hasStorage = (dataDir: string): boolean => existsSync(join(resolve(dataDir), 'level'));

/** Checks that a directory has a storage, for commands. Creates nothing. @throws SettingsError if there is none */
export function assertStorage(dataDir: string): void {
  const folder = resolve(dataDir);
  if (hasStorage(folder)) return;
  if (existsSync(join(folder, 'blobs')))
    throw new SettingsError(
      `The data directory ${folder} has a blobs/ directory, but its database (level/) is missing. Restore level/ from a backup.`,
    );
  throw new SettingsError(
    `${folder} (lws.data-dir) contains no storage. Name its directory with --data-dir DIRECTORY.`,
  );
}

/**
 * Returns the blob store that a component contributes. Undefined: the directory `blobs/`.
 * @throws SettingsError if the settings of the component are not valid
 */
export const blobPlaceOf = (settings: Settings, components: readonly Component[]): BlobPlace | undefined =>
  components.map((component) => component.blobs?.(settings.of(component.settings))).find(Boolean);

/** Returns the modules of exchange formats that components contribute (`Platform.formats`). */
export const formatsOf = (settings: Settings, components: readonly Component[]): readonly string[] =>
  components.flatMap((component) => component.formats?.(settings.of(component.settings)) ?? []);

/** Returns the function that joins the servers of `lws.store`, or `undefined`. @throws SettingsError if no component has it */
export function serversOf(settings: Settings, components: readonly Component[]): OpeningOptions['servers'] {
  const { store: url, storeSchema: schema, storePassword } = settings.of(coreSettings);
  if (url === null) return undefined;
  const { joinServers } = components.find((component) => component.joinServers) ?? {};
  if (joinServers) return (options) => joinServers({ url, schema, password: storePassword ?? undefined }, options);
  throw new SettingsError(
    `lws.store is ${JSON.stringify(url)}, and this server has no component that connects it to a database. Add shared-storage, or unset lws.store.`,
  );
}

export interface OpeningOptions extends Omit<StoreOptions, 'coordination'> {
  /** Joins the other servers of the storage. Absent if there are none. */
  readonly servers?: ((options: JoinOptions) => Promise<Coordination>) | undefined;
  /** True for a storage of a deployment. */
  readonly isOneOfMany?: boolean;
}

/** Private keys that all servers of a storage must share. */
const secrets = ['owner.key', 'webhook.key', 'webhook-old.key', 'oauth-keys.json'];

/** Opens or creates the storage in a directory. @throws StoreUnavailableError */
export async function openStore(dataDir: string, storage: string, options: OpeningOptions): Promise<Store> {
  const folder = resolve(dataDir);
  try {
    await makeFolder(folder);
  } catch (error) {
    throw new StoreUnavailableError(
      `The data directory ${folder} cannot be created (${whyNotMade(error)}). Choose another lws.data-dir.`,
      error,
    );
  }
  const place = realpathSync(folder);
  if (inUse.has(place))
    throw new StoreUnavailableError(
      `The storage in ${folder} is in use by another server of this process. Close that server, or choose another lws.data-dir.`,
    );
  inUse.add(place);
  const release = (): void => void inUse.delete(place);
  const level = await openLevel(join(folder, 'level'), options.isOneOfMany).catch((error: unknown) => {
    release();
    throw error;
  });
  let coordination: Coordination | undefined;
  try {
    coordination = await joined(level, { folder, storage }, options);
    const store = await Store.open(level, folder, storage, {
      ...options,
      coordination,
      deriveGraphs: writeLinksetGraphs,
      onClose: release,
    });
    rememberAddress(folder, storage);
    return store;
  } catch (error) {
    await coordination?.close();
    await level.close();
    release();
    if (error instanceof StoreUnavailableError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new StoreUnavailableError(
      code === undefined ? message : `The data directory ${folder} cannot be used: ${message}.`,
      error,
    );
  }
}

async function joined(
  level: Level,
  place: { readonly folder: string; readonly storage: string },
  options: OpeningOptions,
): Promise<Coordination> {
  const { servers, blobPlace, onTrouble = () => {}, onMigration: told = () => {}, onProgress = () => {} } = options;
  const replica = new Replica(level, onTrouble);
  if (servers) {
    await assertRestored(level);
    const blobs = { dataDir: place.folder, place: blobPlace };
    const newThread = () => newReplicaThread(join(place.folder, 'level'));
    return servers({ replica, newThread, ...place, blobs, secrets, told, onTrouble, onProgress });
  }
  if (replica.journal)
    throw new StoreUnavailableError(
      'The data directory is a copy of a storage in a database (lws.store). Set lws.store again. To continue without ' +
        'the database, stop all servers, make a backup ("quadpod backup DIR") and restore it into an empty lws.data-dir.',
    );
  return singleServer;
}
