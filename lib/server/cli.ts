/** Command line: `quadpod [command] [--setting=value ...]`. Reads settings, runs a command and reports errors. */
import { join } from 'node:path';
import type { Command, CommandHelp, Component } from '../component/component.js';
import {
  meant,
  nearestName,
  readSettingsFile,
  type SettingSources,
  type Settings,
  SettingsError,
  unknownVariables,
} from '../settings/settings.js';
import { StoreUnavailableError } from '../storage/level/durable-level.js';
import { CommandError, LwsError } from '../tools/errors.js';
import { packageRoot, packageVersion } from '../tools/threads/package-root.js';
import { commandContext } from './command-context.js';
import { check, commands } from './commands.js';
import { loadComponents, settingsOf } from './settings/effective-settings.js';
import { withRemembered } from './settings/stored-base-uri.js';
import { sourcesOf } from './storage/usable-settings.js';
import { settingsOfStorage } from './storages/storage-registry.js';

interface CommandLine {
  readonly command: string;
  /** Operands of the command, such as IRIs. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** Names of flags without a value. Such a flag is read as `true` if the setting allows it. */
  readonly bare: readonly string[];
}

/** Exit codes: 2 for a usage error, 1 for a failure. */
const exitCode = { usage: 2, fault: 1 } as const;

const shortNames: Readonly<Record<string, string>> = { '-o': '--output', '-h': '--help' };
/** Flags of every command that take no value. */
const switchesOfAll = ['help', 'version'];

/** Parses a command line. @param switches flags that take no value */
export function readCommandLine(words: readonly string[], switches: ReadonlySet<string> = new Set()): CommandLine {
  const flags: Record<string, string> = {};
  const commands: string[] = [];
  const bare: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = shortNames[words[i]!] ?? words[i]!;
    if (!word.startsWith('--')) commands.push(word);
    else if (word.includes('=')) flags[word.slice(2, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
    else if (
      !switches.has(word.slice(2)) &&
      !switchesOfAll.includes(word.slice(2)) &&
      words[i + 1] !== undefined &&
      !words[i + 1]!.startsWith('--')
    )
      flags[word.slice(2)] = words[++i]!;
    else {
      flags[word.slice(2)] = 'true';
      bare.push(word.slice(2));
    }
  }
  const [command = 'help' in flags ? 'help' : 'serve', ...operands] = commands;
  return { command, operands, flags, bare };
}

/** Checks the count of operands. @throws SettingsError for missing or extra operands */
function assertOperands({ command, operands }: CommandLine, { operand }: CommandHelp): void {
  if (operand === undefined && operands.length > 0)
    throw new SettingsError(`${command} accepts no operands, but got ${operands.join(', ')}.`);
  const wanted = operand?.split(' ') ?? [];
  const least = wanted.filter((word) => !word.startsWith('[')).length;
  if (operands.length >= least && (operands.length <= wanted.length || wanted.at(-1)?.includes('...'))) return;
  throw new SettingsError(
    wanted.length === 1
      ? `${command} requires one operand: quadpod ${command} ${operand}.`
      : `${command} requires ${operand}: quadpod ${command} --help.`,
  );
}

/** Checks that flags have values. @throws SettingsError for a flag without its required value */
function assertValues({ bare }: CommandLine, { flags = {} }: Partial<CommandHelp>, settings: Settings): void {
  for (const name of bare) {
    const { setting } = settings.all().find((each) => [name, `lws.${name}`].includes(each.setting.name)) ?? {};
    const wanted = flags[name] ?? (setting && setting.parser.parse('true') !== true && setting.parser.expectation);
    if (wanted) throw new SettingsError(`--${name} requires a value: --${name}=VALUE, ${wanted}.`);
  }
}

/** Rejects flags known from other servers (`-p`, `--port`). @param own flags of the command @throws SettingsError */
function assertNoHabit(words: readonly string[], own: CommandHelp['flags'] = {}): void {
  const habit = words.find(
    (word) => /^(?:-p|--port|--lws\.port)(?:=|$)/.test(word) && !(own['port'] && word.startsWith('--port')),
  );
  if (habit !== undefined)
    throw new SettingsError(
      `${habit.split('=', 1)[0]} is not a setting. The port is part of the base URI: --base-uri=http://localhost:8081. ` +
        'Behind a proxy, --listen-port sets the local port.',
    );
  const short = words.find((word) => /^-[^-]/.test(word) && word !== '-o' && word !== '-h');
  if (short !== undefined) throw new SettingsError(`${short} is not a flag. Flags have two dashes: --base-uri=URI.`);
}

/** Returns the commands of components, by name. */
const commandsOf = (components: readonly Component[]): Readonly<Record<string, Command>> =>
  Object.fromEntries(components.flatMap(({ commands: own = {} }) => Object.entries(own)));

const switchesOf = (known: HelpOfCommands): ReadonlySet<string> =>
  new Set(Object.values(known).flatMap(({ switches = {} }) => Object.keys(switches)));

const explained = (name: string, components: readonly Component[]): string => {
  const all: HelpOfCommands = { ...commands, ...commandsOf(components) };
  return Object.hasOwn(all, name) ? usageOf(name, all[name]!) : usage(all);
};

/** Runs the command line and returns the exit code, after the readers of its output have received it. */
export async function main(words: readonly string[], standard: readonly Component[]): Promise<number> {
  endWithoutReader();
  const ran: { command?: string } = {};
  const code = await run(words, standard, ran);
  // A server that was told to stop does not wait for readers of its output.
  if (ran.command !== 'serve') await Promise.all([process.stdout, process.stderr].map(flushed));
  return code;
}

/** Resolves when the reader of a pipe has received all output, or has closed the pipe. */
const flushed = (stream: NodeJS.WriteStream): Promise<void> =>
  stream.writableLength === 0 || stream.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => {
        stream.once('close', resolve).write('', () => resolve());
      });

async function run(
  words: readonly string[],
  standard: readonly Component[],
  ran: { command?: string },
): Promise<number> {
  let settings: Settings | undefined;
  try {
    // The switches of components in `lws.components` are known only after the settings are read, so parse the line again.
    const usualCommands: HelpOfCommands = { ...commands, ...commandsOf(standard) };
    const first = readCommandLine(words, switchesOf(usualCommands));
    assertNoHabit(words, Object.hasOwn(usualCommands, first.command) ? usualCommands[first.command]!.flags : {});
    if ('version' in first.flags) return print(`${packageVersion()}\n`);
    const usual = join(packageRoot, 'config.json');
    const sourcesOf = ({ config, ...given }: CommandLine['flags']): SettingSources => ({
      ...{ file: readSettingsFile(config ?? usual), environment: process.env },
      flags: given,
    });
    const load = async (): Promise<readonly Component[]> => loadComponents(sourcesOf(first.flags), standard);
    // Invalid settings must not hide the help.
    if ('help' in first.flags || first.command === 'help')
      return print(explained('help' in first.flags ? first.command : '', await load().catch(() => standard)));
    const components = await load();
    const known: HelpOfCommands = { ...commands, ...commandsOf(components) };
    const line = readCommandLine(words, switchesOf(known));
    const { command, flags } = line;
    ran.command = command;
    const own = Object.hasOwn(known, command) ? { ...known[command]!.flags, ...known[command]!.switches } : {};
    const isOwn = ([name]: [string, string]): boolean => Object.hasOwn(own, name);
    const { storage, ...given } = Object.fromEntries(Object.entries(flags).filter((flag) => !isOwn(flag)));
    const configured = settingsOf(components, sourcesOf(given));
    assertValues(line, known[command] ?? {}, configured);
    const tell = (sentence: string): boolean => process.stderr.write(`quadpod: ${sentence}\n`);
    // The commands `serve` and `check` open the storage, which checks the base URI itself.
    settings = withRemembered(configured, usual, /^(?:serve|check)$/.test(command) ? () => {} : tell);
    for (const sentence of unknownVariables(settings, process.env)) tell(sentence);
    if (storage !== undefined) settings = settingsOfStorage(settings, storage, components);
    const context = {
      ...{ settings, components, operands: line.operands },
      flags: Object.fromEntries(Object.entries(flags).filter(isOwn)),
    };
    if (Object.hasOwn(commands, command)) {
      assertOperands(line, commands[command]!);
      return await commands[command]!.run(context);
    }
    const added = commandsOf(components);
    if (!Object.hasOwn(added, command))
      throw new SettingsError(
        `Unknown command ${command}${meant(nearestName(command, [...Object.keys({ ...commands, ...added }), 'help']))} "quadpod help" lists all commands.`,
      );
    assertOperands(line, added[command]!);
    return await added[command]!.run(commandContext(context, check));
  } catch (error) {
    return explain(error, settings);
  }
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

/** Ignores the error when the reader of the output has closed the pipe. A server continues; the exit code shows no error. */
function endWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
}

/** Reports an error. Rejections by a command or by the operating system are printed as one sentence. @returns the exit code */
function explain(error: unknown, settings: Settings | undefined): number {
  const ofSettings = error instanceof SettingsError || error instanceof StoreUnavailableError;
  const ofSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
  const isExpected = ofSettings || ofSystem || error instanceof CommandError || error instanceof LwsError;
  const { message, stack } = error as Error;
  // If a single setting is invalid, the message already names its source.
  const sources = ofSettings && settings && !message.includes(' from ') ? sourcesOf(settings, message) : '';
  process.stderr.write(`quadpod: ${isExpected ? message + sources : (stack ?? String(error))}\n`);
  return isExpected ? exitCode.usage : exitCode.fault;
}

type HelpOfCommands = Readonly<Record<string, CommandHelp>>;

const sources = `Settings come from config.json (or --config FILE), the environment (LWS_BASE_URI) and flags
(--lws.base-uri=... or --base-uri=...). Later sources take precedence. "quadpod settings" prints all of them.
With --storage NAME a command applies to that storage of a deployment ("quadpod storage").
`;

/** Returns the list of commands with their descriptions. */
function usage(commands: HelpOfCommands): string {
  const lines = Object.entries(commands).map(([name, { help, operand }]) =>
    row(operand ? `${name} ${operand}` : name, help),
  );
  return `quadpod [command] [--setting=value ...]

${lines.join('')}${row('help', 'print this; COMMAND --help prints the flags of a command')}${row('--version', 'print the version')}
${sources}`;
}

/** Returns the help of a command, with its flags and an example. */
export function usageOf(name: string, { help, operand, flags = {}, switches = {}, example }: CommandHelp): string {
  const own = [
    ...Object.entries(flags).map(([flag, text]) => {
      const [value, ...words] = text.split(' ');
      return row(`--${flag} ${value}`, words.join(' '));
    }),
    ...Object.entries(switches).map(([flag, text]) => row(`--${flag}`, text)),
  ];
  return `quadpod ${name}${operand ? ` ${operand}` : ''}${own.length > 0 ? ' [flags]' : ''} [--setting=value ...]

${help[0]!.toUpperCase()}${help.slice(1)}.

${own.length > 0 ? `${own.join('')}\n` : ''}For example:
  quadpod ${example}

${sources}`;
}

const row = (left: string, right: string): string => `  ${left.padEnd(20)}  ${right}\n`;
