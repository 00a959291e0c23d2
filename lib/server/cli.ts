/** The command line: `quadpod [command] [--setting=value ...]`. It reads settings, runs a command, and says what went wrong. */
import { join } from 'node:path';
import type { Command, Component } from '../component.js';
import { createLog, type Log } from '../log.js';
import { packageRoot } from '../package-root.js';
import { linksetFaults } from '../resources/metadata.js';
import { loadSettings, readSettingsFile, type Settings, SettingsError, type SettingsTable } from '../settings.js';
import { checkStore } from '../storage/check.js';
import { StoreUnavailableError } from '../storage/durable-level.js';
import type { Store } from '../storage/store.js';
import { banner } from './banner.js';
import { coreSettings, readBaseUri } from './core-settings.js';
import { openStore } from './open-store.js';
import { keptIdentity, makeIdentity, signCredential } from './owner-credential.js';
import { progressOn } from './progress.js';
import { startServer } from './server.js';

export interface CommandLine {
  readonly command: string;
  readonly flags: Readonly<Record<string, string>>;
}

/** Exit codes: 2 for a mistake of the operator, 1 for a fault, 3 for a storage that is damaged. */
const exitCode = { usage: 2, fault: 1, damaged: 3 } as const;

/** Reads `command --flag=value --flag value --flag`. @throws SettingsError for a second command */
export function readCommandLine(words: readonly string[]): CommandLine {
  const flags: Record<string, string> = {};
  const commands: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (!word.startsWith('--')) commands.push(word);
    else if (word.includes('=')) flags[word.slice(2, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
    else if (words[i + 1] !== undefined && !words[i + 1]!.startsWith('--')) flags[word.slice(2)] = words[++i]!;
    else flags[word.slice(2)] = 'true';
  }
  if (commands.length > 1) throw new SettingsError(`One command at a time: ${commands.join(', ')}.`);
  return { command: commands[0] ?? ('help' in flags ? 'help' : 'serve'), flags };
}

const usage = `quadpod [command] [--setting=value ...]

  serve      run the server (also without a command)
  owner      print an owner identity and a bearer credential of it
               --key FILE      use (or make and keep) the key in this file
               --ttl SECONDS   validity of the credential (3600)
               --audience URI  the storage that it is for (lws.base-uri)
  check      verify the storage of a server that is stopped; --content also reads every blob
  settings   print the effective settings and where each came from
  help       print this
COMPONENTS
Settings come from config.json (or --config FILE), the environment (LWS_BASE_URI) and flags
(--lws.base-uri=... or --base-uri=...), the later ones winning.
`;

/** The commands that components add. */
const componentCommands = (components: readonly Component[]): ReadonlyMap<string, Command> =>
  new Map(components.flatMap(({ commands = {} }) => Object.entries(commands)));

function usageWith(components: readonly Component[]): string {
  const lines = [...componentCommands(components)].map(([name, { help }]) => `  ${name.padEnd(9)}  ${help}\n`);
  return usage.replace('COMPONENTS', lines.join(''));
}

interface Context {
  readonly settings: Settings;
  readonly flags: Readonly<Record<string, string>>;
  readonly components: readonly Component[];
}

const commands: Readonly<
  Record<string, { readonly flags: readonly string[]; run(context: Context): Promise<number> }>
> = {
  serve: { flags: [], run: serve },
  owner: { flags: ['key', 'ttl', 'audience'], run: owner },
  check: { flags: ['content'], run: check },
  settings: { flags: [], run: printSettings },
  help: {
    flags: ['help'],
    run: async ({ components }) => {
      process.stdout.write(usageWith(components));
      return 0;
    },
  },
};

/** Runs the command line and returns the exit code; `undefined` while a server runs. */
export async function main(words: readonly string[], standard: readonly Component[]): Promise<number | undefined> {
  try {
    const { command, flags } = readCommandLine(words);
    const entry = Object.hasOwn(commands, command) ? commands[command] : undefined;
    const isOwn = ([name]: [string, string]): boolean => entry?.flags.includes(name) === true;
    const rest = Object.fromEntries(Object.entries(flags).filter((flag) => !isOwn(flag)));
    const { settings, components } = await effectiveSettings(rest, standard);
    if (entry)
      return await entry.run({ settings, flags: Object.fromEntries(Object.entries(flags).filter(isOwn)), components });
    const added = componentCommands(components).get(command);
    if (!added) throw new SettingsError(`Unknown command ${command}. ${usageWith(components)}`);
    const { dataDir } = settings.of(coreSettings);
    return await added.run({ dataDir, onStore: (work) => onStore(settings, work), progress, print });
  } catch (error) {
    return explain(error);
  }
}

function explain(error: unknown): number {
  const expected = error instanceof SettingsError || error instanceof StoreUnavailableError;
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (expected) process.stderr.write(`quadpod: ${message}\n`);
  else if (code === 'EADDRINUSE' || code === 'EACCES')
    process.stderr.write(`quadpod: ${message}. Choose another lws.listen-port, or stop what uses it.\n`);
  else process.stderr.write(`quadpod: ${stack ?? String(error)}\n`);
  return expected || code === 'EADDRINUSE' || code === 'EACCES' ? exitCode.usage : exitCode.fault;
}

async function effectiveSettings(
  flags: Readonly<Record<string, string>>,
  standard: readonly Component[],
): Promise<{ settings: Settings; components: readonly Component[] }> {
  const { config, ...rest } = flags;
  const file = readSettingsFile(config ?? join(packageRoot, 'config.json'));
  const load = (tables: readonly SettingsTable[]): Settings =>
    loadSettings(tables, { file, environment: process.env, flags: rest });
  const tables = [coreSettings, ...standard.map(({ settings }) => settings)];
  const named = namedComponents(file.content, rest);
  if (named.length === 0) return { settings: load(tables), components: standard };
  const further = await Promise.all(named.map(importComponent));
  return {
    settings: load([...tables, ...further.map(({ settings }) => settings)]),
    components: [...standard, ...further],
  };
}

/** `lws.components` has to be known before the settings of the components that it names. */
function namedComponents(content: unknown, flags: Readonly<Record<string, string>>): readonly string[] {
  const { name, parser } = coreSettings.components;
  const raw =
    flags[name] ??
    flags['components'] ??
    process.env['LWS_COMPONENTS'] ??
    (content as Record<string, unknown> | null)?.[name] ??
    [];
  return parser.parse(raw) ?? [];
}

async function importComponent(module: string): Promise<Component> {
  try {
    return ((await import(module)) as { default: Component }).default;
  } catch (cause) {
    throw new SettingsError(`lws.components names ${module}, which cannot be loaded: ${(cause as Error).message}.`);
  }
}

async function serve({ settings, components }: Context): Promise<number> {
  const core = settings.of(coreSettings);
  const log: Log = createLog(core.logLevel);
  // A fault in one request must not end the others; it is in the log with its stack.
  process.on('unhandledRejection', (error) => log.fatal({ err: error }, 'unhandled rejection'));
  const server = await startServer(settings, components, log);
  process.stderr.write(await banner(server, core));
  return new Promise((resolve) => {
    const stop = (signal: string): void => {
      process.once('SIGINT', () => process.exit(130));
      log.info({ signal }, 'stopping');
      server.stop().then(
        () => resolve(0),
        (error) => resolve(explain(error)),
      );
    };
    process.once('SIGTERM', stop).once('SIGINT', stop);
  });
}

async function owner({ settings, flags }: Context): Promise<number> {
  const { storage } = readBaseUri(settings.of(coreSettings));
  const ttl = Number(flags['ttl'] ?? 3600);
  if (!Number.isSafeInteger(ttl) || ttl < 1) throw new SettingsError(`--ttl is ${flags['ttl']}; expected seconds.`);
  const identity = flags['key'] === undefined ? makeIdentity() : keptIdentity(flags['key']);
  const credential = await signCredential(identity, flags['audience'] ?? storage.slice(0, -1), ttl);
  const lines = [`Owner:      ${identity.did}`, `Credential: ${credential}`, `Valid for:  ${ttl} seconds`];
  if (flags['key'] === undefined)
    lines.push(`Key (keep it secret; --key FILE reads it again): ${JSON.stringify(identity.key)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

const progress = (label: string) => progressOn(process.stderr, label);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs work on the storage while no server has it open. */
async function onStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  const core = settings.of(coreSettings);
  const store = await openStore(core.dataDir, readBaseUri(core).storage, (message) =>
    process.stderr.write(`${message}\n`),
  );
  try {
    return await work(store);
  } finally {
    await store.close();
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
    return count === 0 ? 0 : exitCode.damaged;
  });
}

async function printSettings({ settings }: Context): Promise<number> {
  for (const { setting, value, source } of settings.all())
    process.stdout.write(`${setting.name} = ${JSON.stringify(value)}  (${source})\n`);
  return 0;
}
