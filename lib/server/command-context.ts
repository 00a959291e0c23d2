/** What commands work with: the settings, the storage that no server has open, and the terminal. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CommandContext, Component, Platform, Progress } from '../component/contract.js';
import { createLog } from '../log.js';
import { type Settings, SettingsError } from '../settings.js';
import type { Store } from '../storage/transactions/store.js';
import { prepareServer } from './server.js';
import { coreSettings, readBaseUri } from './settings/core-settings.js';
import { assertStorage, blobPlaceOf, formatsOf, openStore, serversOf } from './storage/open-store.js';
import { readIdentity, signCredential } from './storage/owner-credential.js';
import { StorageRegistry } from './storages/storage-registry.js';

/** What a command works with. */
export interface Context {
  readonly settings: Settings;
  readonly flags: Readonly<Record<string, string>>;
  readonly operands: readonly string[];
  readonly components: readonly Component[];
  /** The folder is looked at by itself, also where its storage is going to be in a database. */
  readonly isApart?: boolean;
}

export const progress = (label: string) => progressOn(process.stderr, label);
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What a component's command works with. */
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
      if (core.devOpen)
        throw new SettingsError(
          'A storage that is open to everybody has nobody who controls it. Stop the server first.',
        );
      if (!existsSync(file))
        throw new SettingsError(
          `There is no ${file}.${file === keyFile ? ' The owners of this storage are named in lws.owners: --key FILE names the key of one.' : ''}`,
        );
      return signCredential(readIdentity(file), baseUri, 3600);
    },
    assertStorage: () => assertStorage(core.dataDir),
    onStore: (work) => onStore({ settings, components }, work),
    onPlatform: (work) => withPlatform({ settings, components }, work),
    progress,
    formats: formatsOf(settings, components),
    // Read by the command that is about them alone.
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

/** Runs work on everything that is installed, while no server has it open. */
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
/** Milliseconds: shorter work shows nothing, and a log gets a line only so often. */
const quiet = 500;
const everyMs = 10_000;

/** Shows how far some work is. Nothing is shown of work that ends at once. */
function progressOn(stream: NodeJS.WriteStream, label: string): Progress {
  const startedAt = Date.now();
  let shownAt = 0;
  return (done, total, note) => {
    const now = Date.now();
    const ends = done >= total;
    if (now - startedAt < quiet || (!ends && now - shownAt < (stream.isTTY ? 100 : everyMs))) return;
    shownAt = now;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    // How much there is cannot always be said beforehand.
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
