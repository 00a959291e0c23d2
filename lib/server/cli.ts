/** The command line: `quadpod [command] [--setting=value ...]`. It reads settings, runs a command, and says what went wrong. */
import { join } from 'node:path';
import type { Command, Component } from '../component.js';
import { packageRoot } from '../package-root.js';
import { readSettingsFile, SettingsError } from '../settings.js';
import { StoreUnavailableError } from '../storage/durable-level.js';
import { commandContext, commands } from './commands.js';
import { effectiveSettings } from './effective-settings.js';

export interface CommandLine {
  readonly command: string;
  /** What the command is about, such as an IRI. */
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
}

/** Exit codes: 2 for a mistake of the operator, 1 for a fault. */
const exitCode = { usage: 2, fault: 1 } as const;

/**
 * Reads `command --flag=value --flag value --flag`.
 * @param switches flags that take no value, whatever stands behind them
 * @throws SettingsError for a second command
 */
export function readCommandLine(words: readonly string[], switches: ReadonlySet<string> = new Set()): CommandLine {
  const flags: Record<string, string> = {};
  const commands: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] === '-o' ? '--output' : words[i]!;
    if (!word.startsWith('--')) commands.push(word);
    else if (word.includes('=')) flags[word.slice(2, word.indexOf('='))] = word.slice(word.indexOf('=') + 1);
    else if (!switches.has(word.slice(2)) && words[i + 1] !== undefined && !words[i + 1]!.startsWith('--'))
      flags[word.slice(2)] = words[++i]!;
    else flags[word.slice(2)] = 'true';
  }
  const [command = 'help' in flags ? 'help' : 'serve', ...operands] = commands;
  return { command, operands, flags };
}

/** @throws SettingsError for more than the command takes */
function assertOperands({ command, operands }: CommandLine, { operand }: Partial<Command> = {}): void {
  if (operands.length > 0 && command !== 'explain' && operand === undefined)
    throw new SettingsError(`One command at a time: ${[command, ...operands].join(', ')}.`);
  const least = operand?.startsWith('[') ? 0 : 1;
  if (operand !== undefined && (operands.length < least || operands.length > 1))
    throw new SettingsError(`${command} takes one ${operand}: quadpod ${command} ${operand}.`);
}

const usage = `quadpod [command] [--setting=value ...]

  serve      run the server (also without a command)
  owner      print an owner identity and a bearer credential of it
               --key FILE      use (or make and keep) the key in this file
               --ttl SECONDS   validity of the credential (3600)
               --audience URI  the storage that it is for (lws.base-uri)
  check      verify the storage of a server that is stopped; --content also reads every blob
  explain    print whether a request would be allowed, and by which rule: explain --as URI --method PUT IRI
               --as URI        the subject; without it an anonymous client
               --client URI    --origin URI    --purpose TEXT    what else the request says
  rotate-webhook-key  sign notifications with a new key from the next start on
  settings   print the effective settings and where each came from
  help       print this
COMPONENTS
Settings come from config.json (or --config FILE), the environment (LWS_BASE_URI) and flags
(--lws.base-uri=... or --base-uri=...), the later ones winning.
`;

/** The commands that components add. */
const componentCommands = (components: readonly Component[]): ReadonlyMap<string, Command> =>
  new Map(components.flatMap(({ commands = {} }) => Object.entries(commands)));

/** Of components that are named in `lws.components` the flags are not known before the settings are. */
function ownFlags(standard: readonly Component[], command: string): readonly string[] {
  const { flags = [], switches = [] } = componentCommands(standard).get(command) ?? {};
  return [...flags, ...switches];
}

function usageWith(components: readonly Component[]): string {
  const lines = [...componentCommands(components)].map(
    ([name, { help, operand }]) => `  ${(operand ? `${name} ${operand}` : name).padEnd(9)}  ${help}\n`,
  );
  return usage.replace('COMPONENTS', lines.join(''));
}

/** Runs the command line and returns the exit code; `undefined` while a server runs. */
export async function main(words: readonly string[], standard: readonly Component[]): Promise<number | undefined> {
  try {
    const switches = standard.flatMap(({ commands: own = {} }) =>
      Object.values(own).flatMap((each) => each.switches ?? []),
    );
    const line = readCommandLine(words, new Set(switches));
    const { command, operands, flags } = line;
    const entry = Object.hasOwn(commands, command) ? commands[command] : undefined;
    const isOwn = ([name]: [string, string]): boolean =>
      entry?.flags.includes(name) === true ||
      ownFlags(standard, command).includes(name) ||
      (command === 'help' && name === 'help');
    const rest = Object.fromEntries(Object.entries(flags).filter((flag) => !isOwn(flag)));
    const { config, ...given } = rest;
    const file = readSettingsFile(config ?? join(packageRoot, 'config.json'));
    const sources = { file, environment: process.env, flags: given };
    const { settings, components } = await effectiveSettings(sources, standard);
    if (command === 'help') {
      process.stdout.write(usageWith(components));
      return 0;
    }
    const added = entry ? undefined : componentCommands(components).get(command);
    if (!entry && !added) throw new SettingsError(`Unknown command ${command}. ${usageWith(components)}`);
    assertOperands(line, added);
    const context = { settings, flags: Object.fromEntries(Object.entries(flags).filter(isOwn)), operands, components };
    return entry ? await entry.run(context) : await added!.run(commandContext(context));
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
