/** Opens a storage with its components: the only storage of a server, or one of a deployment. */

import { createPrivateKey } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Component } from '../../component/component.js';
import type { Installation, Platform } from '../../component/contract.js';
import type { Deployment } from '../../component/deployment.js';
import { pauseUpdates } from '../../documents/update-gate.js';
import { type Application, createApp } from '../../http/app.js';
import type { AppContext } from '../../http/app-context.js';
import { read as readResource } from '../../http/resource-routes.js';
import { innerReply } from '../../http/resources.js';
import { stageRest } from '../../resources/delete.js';
import type { Storage } from '../../resources/storage.js';
import { ensureRoot } from '../../resources/storage-root.js';
import type { Settings } from '../../settings/settings.js';
import { canReturnDeleted } from '../../storage/level/durable-level.js';
import { folderOf } from '../../storage/level/shared-level.js';
import type { Store } from '../../storage/transactions/store.js';
import { type CoreSettings, coreSettings, readBaseUri } from '../settings/core-settings.js';
import { type AssemblyContext, assembleAppContext, assemblePlatform, assembleStorage, installAll } from './assemble.js';
import { keptKey } from './key-file.js';
import { localOwner } from './local-owner.js';
import { blobPlaceOf, formatsOf, openStore, serversOf } from './open-store.js';
import type { ServerProcess } from './process.js';
import { type Upgrade, upgradeListener } from './upgrades.js';
import { oldVerificationMethod, verificationMethodOf } from './verification-method.js';

/** The storage with its components, before it accepts requests. */
export interface PreparedStorage {
  readonly core: CoreSettings;
  readonly storage: Storage;
  readonly platform: Platform;
  readonly owners: readonly string[];
  readonly appContext: AppContext;
  readonly installations: readonly Installation[];
  readonly mintedOwner: string | undefined;
  close(): Promise<void>;
}

/** Other parts of the process that a storage uses. */
export interface Surroundings {
  readonly process: ServerProcess;
  /** Other storages of the process. Only the storage of `lws.base-uri` has this field. */
  readonly deployment?: Deployment | undefined;
  /** Storage of `lws.base-uri`. All other storages have this field. */
  readonly home?: OpenStorage | undefined;
  /** Id of the last change of the owners by an operator. */
  readonly ownersChange?: string | undefined;
}

/** A storage that accepts requests. */
export interface OpenStorage extends Omit<PreparedStorage, 'close'> {
  readonly app: Application;
  /** Handles a request. Settles when the response no longer needs the storage. */
  readonly listener: (...exchange: Parameters<RequestListener>) => Promise<void>;
  readonly upgrade: Upgrade;
  /** Returns true while background work is running. */
  isBusy(): boolean;
  /** Returns true while clients are subscribed. */
  isFollowed(): boolean;
  /** Ends responses that have no end, such as event streams. */
  drain(): void;
  /** Waits up to the timeout for pending requests, and closes the storage. @returns true if work remains for the next open */
  close(maxMs: number): Promise<boolean>;
}

/** Opens a storage and installs its components. @throws as `prepareServer` */
export async function prepareStorage(
  settings: Settings,
  installed: readonly Component[],
  { process, deployment, home, ownersChange }: Surroundings,
): Promise<PreparedStorage> {
  const core = settings.of(coreSettings);
  const components = home ? installed.filter(({ isOfProcess }) => !isOfProcess) : installed;
  const { storage: iri } = readBaseUri(core);
  const mintedOwner = core.owners.length === 0 && !core.devOpen ? join(core.dataDir, 'owner.key') : undefined;
  const store = await openOwnStore(settings, components, { process, home });
  try {
    await ensureRoot(store, iri, Date.now());
    const owners = mintedOwner ? [await localOwner(store, mintedOwner)] : core.owners;
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
    const request: AssemblyContext['request'] = (...asked) => innerReply(appContext, ...asked);
    const formats = formatsOf(settings, components);
    const kept = { settings, process, deployment, home, ownersChange, signingKey };
    const assembly = { ...kept, read, request, formats, installations };
    const assembled = await assembleStorage(core, iri, store, owners, assembly);
    const { storage } = assembled;
    const platform = assemblePlatform(core, assembled, assembly);
    await installAll(components, settings, platform, installations);
    await store.sweep(stageRest);
    // Once per process, because all storages share the loaded modules.
    if (!home) process.warms.push(...installations.flatMap(({ warm }) => warm ?? []));
    const { storageLinks } = storage.profile ?? {};
    storage.links = [
      ...(storageLinks ? [{ target: iri, relation: storageLinks.relation }] : []),
      ...installations.flatMap(({ links = [] }) => links),
    ];
    storage.linksOf = linksOfAll(installations.flatMap(({ linksOf }) => linksOf ?? []));
    storage.keepsVersions = installations.find(({ earlierStates }) => earlierStates)?.earlierStates?.isUsed;
    storage.addedMethods = installations.find(({ resourceMethods }) => resourceMethods)?.resourceMethods?.allowed;
    const oldMethod = await oldVerificationMethod(join(core.dataDir, 'webhook-old.key'), iri, Date.now());
    const all = { ...assembly, verificationMethods: [method, ...(oldMethod ? [oldMethod] : [])] };
    const appContext: AppContext = assembleAppContext(core, { storage, platform }, all);
    const close = (): Promise<void> => closeStore(store);
    return { core, storage, platform, owners, appContext, installations, mintedOwner, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Combines the `linksOf` functions of several components into one function. */
function linksOfAll(all: readonly NonNullable<Storage['linksOf']>[]): Storage['linksOf'] {
  if (all.length < 2) return all[0];
  return (access, iri) => {
    let found: Promise<readonly string[]> | undefined;
    for (const linksOf of all) {
      const [before, more] = [found, linksOf(access, iri)];
      found = before && more ? Promise.all([before, more]).then((links) => links.flat()) : (before ?? more);
    }
    return found;
  };
}

const levelWarning =
  'The LevelDB of npm has a defect that can bring deleted data back in storages of several files, such as this one. ' +
  'Stop the server, compile LevelDB with the correction (quadpod leveldb --compile), and start again.';

async function openOwnStore(
  settings: Settings,
  components: readonly Component[],
  { process: { log, progress }, home }: Pick<Surroundings, 'process' | 'home'>,
): Promise<Store> {
  const core = settings.of(coreSettings);
  const store = await openStore(core.dataDir, readBaseUri(core).storage, {
    servers: serversOf(settings, components),
    blobPlace: blobPlaceOf(settings, components),
    onTrouble: (message, error) => log.error({ err: error }, message),
    onRecovery: (message) => log.warn(message),
    onMigration: (message) => log.warn(message),
    onProgress: migrating(progress),
    quotaBytes: core.quotaBytes,
    isOneOfMany: home !== undefined,
  });
  if (canReturnDeleted(store.level)) log.warn(levelWarning);
  return store;
}

/** Closes a store after its updates, whose threads have LevelDB open. */
async function closeStore(store: Store): Promise<void> {
  const resume = await pauseUpdates(folderOf(store.level));
  await store.close().finally(resume);
}

/** Returns a progress function that shows nothing unless a migration is needed. */
function migrating(progress: Platform['progress']): (done: number) => void {
  let told: ReturnType<typeof progress> | undefined;
  return (done) => {
    told ??= progress('Migrating the storage');
    told(done, Number.POSITIVE_INFINITY, `${done} records`);
  };
}

/** Opens a storage and starts its background work. @throws as `prepareServer` */
export async function openStorage(
  settings: Settings,
  components: readonly Component[],
  surroundings: Surroundings,
): Promise<OpenStorage> {
  const prepared = await prepareStorage(settings, components, surroundings);
  const { appContext, installations, storage } = prepared;
  const app = createApp(appContext);
  const stop = async (): Promise<void> => {
    try {
      for (const installation of [...installations].reverse()) await installation.stop?.();
    } finally {
      await prepared.close();
    }
  };
  const drain = (): void => {
    for (const installation of installations) installation.drain?.();
  };
  const isBusy = (): boolean => installations.some((installation) => installation.isBusy?.());
  try {
    await storage.store.coordination.serve();
    for (const { start } of installations) await start?.();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ...prepared,
    app,
    listener: app.koa.callback(),
    upgrade: upgradeListener(installations),
    isBusy,
    isFollowed: () => installations.some((installation) => installation.isFollowed?.()),
    drain,
    async close(maxMs) {
      const wasBusy = isBusy();
      drain();
      await app.close(maxMs);
      const owes = wasBusy || isBusy();
      await stop();
      return owes;
    },
  };
}
