/** The commands of the house: each works on settings and says what came of it. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext, Component, House } from '../component.js';
import { createLog, type Log } from '../log.js';
import { linksetFaults } from '../resources/metadata.js';
import { describeSettings, type Settings, SettingsError } from '../settings.js';
import { checkStore } from '../storage/check.js';
import type { Store } from '../storage/store.js';
import { banner } from './banner.js';
import { coreSettings, readBaseUri } from './core-settings.js';
import { explain } from './explain.js';
import { openStore } from './open-store.js';
import { keptIdentity, makeIdentity, readIdentity, signCredential } from './owner-credential.js';
import { progressOn } from './progress.js';
import { createServer, prepareServer, type Server } from './server.js';
import { pageOf, signInLink } from './sign-in-link.js';
import { rotateKey } from './verification-method.js';

/** Exit code of `check` for a storage that is damaged. */
const damaged = 3;

/** What a command works with. */
export interface Context {
  readonly settings: Settings;
  readonly flags: Readonly<Record<string, string>>;
  readonly operands: readonly string[];
  readonly components: readonly Component[];
}

export interface HouseCommand {
  readonly flags: readonly string[];
  /** @returns the exit code */
  run(context: Context): Promise<number>;
}

/** The commands of the house, with the flags that are theirs and no settings. */
export const commands: Readonly<Record<string, HouseCommand>> = {
  serve: { flags: [], run: serve },
  owner: { flags: ['key', 'ttl', 'audience'], run: owner },
  check: { flags: ['content'], run: check },
  'rotate-webhook-key': { flags: [], run: rotateWebhookKey },
  explain: { flags: ['as', 'method', 'client', 'origin', 'purpose'], run: explainRequest },
  settings: { flags: [], run: printSettings },
};

async function serve({ settings, components }: Context): Promise<number> {
  const core = settings.of(coreSettings);
  const log: Log = createLog(core.logLevel);
  // A fault in one request must not end the others; it is in the log with its stack.
  process.on('unhandledRejection', (error) => log.fatal({ err: error }, 'unhandled rejection'));
  const server = await createServer(settings, { components, log, progress });
  await listening(server);
  process.stderr.write(await banner(server, core, pageOf(server.baseUri, components, settings)));
  return new Promise((resolve, reject) => {
    const stop = (signal: string): void => {
      process.once('SIGINT', () => process.exit(130));
      log.info({ signal }, 'stopping');
      server.close().then(() => resolve(0), reject);
    };
    process.once('SIGTERM', stop).once('SIGINT', stop);
    // The end of a terminal is the end of the server in it; without one it is what services send after a renewal.
    if (process.stderr.isTTY) process.once('SIGHUP', stop);
    else process.on('SIGHUP', () => server.reload());
  });
}

/** @throws the error of the socket, after the storage is closed */
async function listening(server: Server): Promise<void> {
  try {
    await server.listen();
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function owner({ settings, flags, components }: Context): Promise<number> {
  const { storage } = readBaseUri(settings.of(coreSettings));
  const audience = flags['audience'] ?? storage.slice(0, -1);
  const ttl = Number(flags['ttl'] ?? 3600);
  if (!Number.isSafeInteger(ttl) || ttl < 1) throw new SettingsError(`--ttl is ${flags['ttl']}; expected seconds.`);
  const identity = flags['key'] === undefined ? makeIdentity() : keptIdentity(flags['key']);
  const credential = await signCredential(identity, audience, ttl);
  const page = pageOf(audience.replace(/\/$/, ''), components, settings);
  const lines = [`Owner:      ${identity.did}`, `Credential: ${credential}`, `Valid for:  ${ttl} seconds`];
  if (page) lines.push(`Sign in at: ${signInLink(page, credential)}`);
  if (flags['key'] === undefined)
    lines.push(`Key (keep it secret; --key FILE reads it again): ${JSON.stringify(identity.key)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

const progress = (label: string) => progressOn(process.stderr, label);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What a component's command works with. */
export function commandContext({ settings, flags, operands, components }: Context): CommandContext {
  const core = settings.of(coreSettings);
  const baseUri = readBaseUri(core).storage.slice(0, -1);
  const keyFile = join(core.dataDir, 'owner.key');
  return {
    baseUri,
    systemPrefix: core.systemPrefix,
    operands,
    flags,
    check: () => check({ settings, flags: {}, operands: [], components }),
    dataDir: core.dataDir,
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
    onStore: (work) => onStore(settings, work),
    inHouse: (work) => inHouse({ settings, components }, work),
    progress,
    print,
  };
}

/** Runs work on the storage while no server has it open. */
async function onStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  const core = settings.of(coreSettings);
  const store = await openStore(core.dataDir, readBaseUri(core).storage, {
    onTrouble: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Runs work on everything that is installed, while no server has it open. */
async function inHouse<T>(
  { settings, components }: Pick<Context, 'settings' | 'components'>,
  work: (house: House, owner: string | undefined) => Promise<T>,
): Promise<T> {
  const prepared = await prepareServer(settings, { components, log: createLog('warn'), progress });
  const { house, owners, installations, close } = prepared;
  try {
    return await work(house, owners[0]);
  } finally {
    for (const installation of [...installations].reverse()) await installation.stop?.();
    await close();
  }
}

async function check({ settings, flags, components }: Context): Promise<number> {
  return onStore(settings, async (store) => {
    const onProgress = process.stderr.isTTY
      ? (what: string, done: number) => void process.stderr.write(`\r${done} ${what}   `)
      : undefined;
    const options = { content: flags['content'] === 'true', ...(onProgress ? { onProgress } : {}) };
    const { faults, resources, triples, blobs, bytes } = await checkStore(store, options);
    if (onProgress) process.stderr.write('\r');
    let count = faults.length;
    for (const fault of faults) print(fault);
    for (const found of [linksetFaults(store), ...components.map((component) => component.check?.(store) ?? [])])
      for await (const fault of found) {
        print(fault);
        count++;
      }
    print(
      `${resources} resources, ${triples} triples, ${blobs} blobs, ${bytes} bytes: ` +
        `${count === 0 ? 'all in order' : `${count} faults`}.`,
    );
    return count === 0 ? 0 : damaged;
  });
}

async function explainRequest({ settings, flags, operands, components }: Context): Promise<number> {
  const [iri, ...rest] = operands;
  if (iri === undefined || rest.length > 0)
    throw new SettingsError('explain is about one IRI: explain --as URI --method GET IRI.');
  const { as: subject, client, origin, purpose } = flags;
  const access = {
    ...(subject === undefined ? {} : { principal: { subject, ...(client === undefined ? {} : { client }) } }),
    ...(origin === undefined ? {} : { origin }),
    ...(purpose === undefined ? {} : { purpose }),
  };
  const { storage, close } = await prepareServer(settings, { components, log: createLog('warn'), progress });
  try {
    for (const line of await explain(storage, { access, method: (flags['method'] ?? 'GET').toUpperCase(), iri }))
      print(line);
    return 0;
  } finally {
    await close();
  }
}

async function rotateWebhookKey({ settings }: Context): Promise<number> {
  const { dataDir } = settings.of(coreSettings);
  rotateKey(join(dataDir, 'webhook.key'), join(dataDir, 'webhook-old.key'));
  print(
    'Notifications are signed with a new key from the next start on; the old one is published for five minutes more.',
  );
  return 0;
}

async function printSettings({ settings }: Context): Promise<number> {
  for (const { name, value, source } of describeSettings(settings))
    process.stdout.write(`${name} = ${value === undefined ? 'not shown' : JSON.stringify(value)}  (${source})\n`);
  return 0;
}
