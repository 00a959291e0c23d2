/** Context of commands: settings, a storage that no server has open, and the terminal. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandContext, Component } from '../component/component.js';
import type { Platform, Progress } from '../component/contract.js';
import { type Settings, SettingsError } from '../settings/settings.js';
import type { Store } from '../storage/transactions/store.js';
import { createLog } from '../tools/log.js';
import { prepareServer } from './server.js';
import { coreSettings, readBaseUri } from './settings/core-settings.js';
import { assertStorage, blobPlaceOf, formatsOf, openStore, serversOf } from './storage/open-store.js';
import { readIdentity, signCredential } from './storage/owner-credential.js';
import { StorageRegistry } from './storages/storage-registry.js';

/** Context of a command. */
export interface Context {
  readonly settings: Settings;
  readonly flags: Readonly<Record<string, string>>;
  readonly operands: readonly string[];
  readonly components: readonly Component[];
  /** True to check only the directory, even if the storage is in a database. */
  readonly isApart?: boolean;
}

export const progress = (label: string) => progressOn(process.stderr, label);
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Returns the context for a command of a component. */
export function commandContext(
  { settings, flags, operands, components }: Context,
  check: (context: Context) => Promise<number>,
): CommandContext {
  const core = settings.of(coreSettings);
  const baseUri = readBaseUri(core).storage.slice(0, -1);
  const keyFile = join(core.dataDir, 'owner.key');
  return {
    baseUri,
    systemPrefix: core.systemPrefix,
    operands,
    flags,
    check: () => check({ settings, flags: {}, operands: [], components, isApart: true }),
    dataDir: core.dataDir,
    blobs: { dataDir: resolve(core.dataDir), place: blobPlaceOf(settings, components) },
    ownerCredential: async (file = keyFile) => {
      if (core.devOpen) throw new SettingsError('A storage in open mode has no controller. Stop the server first.');
      if (!existsSync(file))
        throw new SettingsError(
          `${file} does not exist.${file === keyFile ? ' The owners of this storage are listed in lws.owners. Use --key FILE to name the key of one of them.' : ''}`,
        );
      return signCredential(readIdentity(file), baseUri, 3600);
    },
    assertStorage: () => assertStorage(core.dataDir),
    onStore: (work) => onStore({ settings, components }, work),
    onPlatform: (work) => withPlatform({ settings, components }, work),
    progress,
    formats: formatsOf(settings, components),
    // Created on demand, because only commands for other storages need the registry.
    get storages() {
      return StorageRegistry.of(settings, components);
    },
    print,
  };
}

/** Runs work on the storage while no server has it open. */
export async function onStore<T>(
  { settings, components, isApart = false }: Pick<Context, 'settings' | 'components' | 'isApart'>,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const core = settings.of(coreSettings);
  assertStorage(core.dataDir);
  const store = await openStore(core.dataDir, readBaseUri(core).storage, {
    servers: isApart ? undefined : serversOf(settings, components),
    blobPlace: blobPlaceOf(settings, components),
    onTrouble: (message) => process.stderr.write(`${message}\n`),
    onMigration: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    await store.coordination.opened();
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Runs work on the platform with all components while no server has it open. */
async function withPlatform<T>(
  { settings, components }: Pick<Context, 'settings' | 'components'>,
  work: (platform: Platform, owner: string | undefined) => Promise<T>,
): Promise<T> {
  const prepared = await prepareServer(settings, { components, log: createLog('warn'), progress });
  const { platform, owners, installations, close } = prepared;
  try {
    await platform.store.coordination.opened();
    return await work(platform, owners[0]);
  } finally {
    for (const installation of [...installations].reverse()) await installation.stop?.();
    await close();
  }
}

const width = 30;
/** Duration below which work shows no progress, and minimum interval of progress lines in a log, in milliseconds. */
const quiet = 500;
const everyMs = 10_000;

/** Returns a function that shows progress, unless the work ends quickly. */
function progressOn(stream: NodeJS.WriteStream, label: string): Progress {
  const startedAt = Date.now();
  let shownAt = 0;
  return (done, total, note) => {
    const now = Date.now();
    const ends = done >= total;
    if (now - startedAt < quiet || (!ends && now - shownAt < (stream.isTTY ? 100 : everyMs))) return;
    shownAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    // The total is not always known in advance.
    const far = Number.isFinite(total) ? `${Math.floor(share * 100)} %` : '';
    const counts = Number.isFinite(total) ? `(${done} of ${total})` : `${done}`;
    const left = share > 0 && share < 1 && note ? `, ${timeOf(((now - startedAt) * (1 - share)) / share)} left` : '';
    const text = `${label}: ${[far, note ?? counts].filter(Boolean).join(' ')}${left}`;
    if (!stream.isTTY) stream.write(`${text}\n`);
    else {
      const bar = '#'.repeat(Math.round(share * width)).padEnd(width, '-');
      stream.write(`\r\u001b[K[${bar}] ${text}${ends ? '\n' : ' '}`);
    }
  };
}

function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 90 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}
