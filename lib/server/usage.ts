/** What `quadpod help` and `quadpod COMMAND --help` print. */
import type { CommandHelp } from '../component/contract.js';

export type HelpOfCommands = Readonly<Record<string, CommandHelp>>;

const sources = `Settings come from config.json (or --config FILE), the environment (LWS_BASE_URI) and flags
(--lws.base-uri=... or --base-uri=...), the later ones winning. "quadpod settings" prints all of them.
With --storage NAME a command is about that storage of a deployment ("quadpod storage").
`;

/** Every command with its sentence. */
export function usage(commands: HelpOfCommands): string {
  const lines = Object.entries(commands).map(([name, { help, operand }]) =>
    row(operand ? `${name} ${operand}` : name, help),
  );
  return `quadpod [command] [--setting=value ...]

${lines.join('')}${row('help', 'print this; COMMAND --help prints the flags of a command')}${row('--version', 'print the version')}
${sources}`;
}

/** A command with its flags and an example. */
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
