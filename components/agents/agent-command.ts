/** `quadpod agent`: adds, lists and removes agents. Each has its own key and a grant. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { askServer, RefusedCommand, shown } from '../../lib/component/commands.js';
import type { CommandContext } from '../../lib/component/component.js';
import { makeIdentity, readIdentity } from '../../lib/server/storage/owner-credential.js';
import { writeWhole } from '../../lib/storage/level/synced-files.js';
import { CommandError } from '../../lib/tools/errors.js';
import { asTyped } from '../../lib/tools/threads/package-root.js';
import type { Calls } from './activity.js';

/** Runs the command. @throws CommandError, SettingsError */
export async function runAgent(context: CommandContext): Promise<number> {
  const [action, name] = context.operands;
  if (action === 'list' && name === undefined) return list(context);
  if ((action !== 'add' && action !== 'remove') || name === undefined)
    throw new CommandError('Use agent add NAME, agent list, or agent remove NAME.');
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,39}$/.test(name))
    throw new CommandError(`${shown(name)} is not a valid name. Use 1 to 40 letters, digits and hyphens.`);
  return action === 'add' ? add(context, name) : remove(context, name);
}

const folderOf = ({ dataDir }: CommandContext): string => resolve(dataDir, 'agents');
/** Returns the path of an agent's file, which contains its key and the IRI of its grant. */
const fileOf = (context: CommandContext, name: string): string => join(folderOf(context), `${name}.key`);

async function add(context: CommandContext, name: string): Promise<number> {
  const { baseUri, flags, print } = context;
  const file = fileOf(context, name);
  if (existsSync(file)) throw new CommandError(`Agent ${name} exists. End it with: agent remove ${name}.`);
  const [readable, writable] = [pathsOf(flags['read']), pathsOf(flags['write'])];
  if (readable.length + writable.length === 0)
    throw new CommandError('Name what the agent may use: --read /a/ or --write /b/.');
  const until = endOf(flags['until']);
  for (const path of [...readable, ...writable])
    if (!(await ifPresent(askServer(context, baseUri + path, { method: 'HEAD' }))))
      throw new CommandError(`${path} does not exist. Create it first: the access of an agent begins with a resource.`);
  const { did, key } = makeIdentity();
  const policy = (action: readonly string[], paths: readonly string[]) => ({
    type: ['AccessPolicy'],
    action,
    assignee: did,
    target: { type: 'StorageResource', value: paths.map((path) => baseUri + path) },
    constraint: [{ leftOperand: 'dateTime', operator: 'lt', rightOperand: until }],
  });
  const document = {
    type: ['AccessGrant'],
    storage: `${baseUri}/`,
    agent: name,
    // Purpose of the grant, which the console shows.
    purpose: `agent ${name}`,
    access: [
      ...(readable.length > 0 ? [policy(['read'], readable)] : []),
      ...(writable.length > 0 ? [policy(['read', 'create', 'modify'], writable)] : []),
    ],
  };
  // Store the key before the grant exists: otherwise a failure could leave a grant for a lost key.
  writeWhole(file, `${JSON.stringify(key)}\n`);
  try {
    const headers = { 'Content-Type': 'application/lws+json' };
    const body = JSON.stringify(document);
    const granted = await askServer(context, 'access-grants', { method: 'POST', headers, body });
    const { id: grant } = (await granted.json()) as { id: string };
    writeWhole(file, `${JSON.stringify({ ...key, grant })}\n`);
  } catch (error) {
    rmSync(file);
    throw error;
  }
  print(`Agent ${name}: ${did}\nKey:    ${file}`);
  print(`Access: ${accessOf({ readable, writable })} before ${until}. To end it: agent remove ${name}`);
  if (writable.length > 0)
    print('With lws.access-control=owner, it also has full access to the resources that it creates.');
  print(configurations(name, [`${baseUri}/`, '--key', file, '--mcp']));
  return 0;
}

/** Parses comma-separated paths. @throws CommandError */
function pathsOf(flag = ''): string[] {
  const paths = flag.split(',').filter(Boolean);
  for (const path of paths)
    if (!path.startsWith('/') || new URL(path, 'http://host').pathname !== path)
      throw new CommandError(
        `${shown(path)} is not a path. Use one such as /notes/, percent-encoded, without a query.`,
      );
  return paths;
}

/** Returns the end of a day (UTC) as xsd:dateTime. @throws CommandError for an invalid or past date */
function endOf(flag = ''): string {
  const [start] = /^\d{4}-\d\d-\d\d$/.exec(flag) ?? [];
  const day = new Date(`${start}T00:00:00Z`);
  if (!start || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== start)
    throw new CommandError(
      `--until is ${shown(flag) || 'missing'}. Use the last day of the access, such as 2030-12-31.`,
    );
  day.setUTCDate(day.getUTCDate() + 1);
  if (day.getTime() <= Date.now()) throw new CommandError(`--until ${start} is in the past.`);
  return day.toISOString();
}

const accessOf = ({ readable, writable }: Record<'readable' | 'writable', readonly string[]>): string =>
  [
    ...(readable.length > 0 ? [`reads ${readable.join(' ')}`] : []),
    ...(writable.length > 0 ? [`reads and writes ${writable.join(' ')}`] : []),
  ].join(', ');

/**
 * Returns configurations with which MCP clients start the relay. Paths are absolute, because clients have other working
 * directories. If npx runs this command, the clients use npx too, because npx may delete the package from its cache.
 */
function configurations(name: string, words: readonly string[]): string {
  const args = ['connect', ...words];
  const server =
    asTyped() === 'npx quadpod'
      ? { command: 'npx', args: ['--yes', 'quadpod', ...args] }
      : { command: process.execPath, args: [resolve(process.argv[1] ?? ''), ...args] };
  const text = (content: object): string => JSON.stringify(content, undefined, 2);
  return `
Claude Desktop (claude_desktop_config.json) and Cursor (~/.cursor/mcp.json):
${text({ mcpServers: { [name]: server } })}

VS Code (.vscode/mcp.json):
${text({ servers: { [name]: { type: 'stdio', ...server } } })}`;
}

interface Policy {
  readonly action: readonly string[];
  readonly target: { readonly value: readonly string[] };
  readonly constraint: readonly { readonly rightOperand: string }[];
}

async function list(context: CommandContext): Promise<number> {
  const { baseUri, print } = context;
  const folder = folderOf(context);
  const files = existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.key'))
        .sort()
    : [];
  if (files.length === 0) return 0;
  const { callers } = (await (await askServer(context, 'agents')).json()) as { callers: readonly Calls[] };
  for (const file of files) {
    const { did } = readIdentity(join(folder, file));
    const used = callers.find(({ subject }) => subject === did);
    const granted = await grantOf(context, join(folder, file));
    const access = ((granted?.access ?? []) as readonly Policy[]).map(
      ({ action, target, constraint }) =>
        `${action.join(', ')} ${target.value.map((iri) => iri.slice(baseUri.length)).join(' ')} before ${constraint[0]!.rightOperand}`,
    );
    print(`${file.slice(0, -'.key'.length)}  ${did}`);
    for (const line of granted ? access : ['no access: the grant was deleted']) print(`  ${line}`);
    print(
      `  ${used ? `${used.calls} calls since the server started, ${used.failed} failed; last: ${used.tool}, ${used.last}` : 'no calls since the server started'}`,
    );
  }
  return 0;
}

/** Returns the grant of an agent, or `undefined` if the grant was deleted. */
async function grantOf(context: CommandContext, file: string): Promise<{ readonly access: unknown } | undefined> {
  const { grant } = JSON.parse(readFileSync(file, 'utf8')) as { grant?: string };
  return grant === undefined
    ? undefined
    : ((await ifPresent(askServer(context, grant)))?.json() as Promise<{ access: unknown } | undefined>);
}

/** Deletes an agent: first the grant and then the key, so that no key with access is lost. */
async function remove(context: CommandContext, name: string): Promise<number> {
  const file = fileOf(context, name);
  if (!existsSync(file)) throw new CommandError(`Agent ${name} does not exist. List agents with: agent list.`);
  const { grant } = JSON.parse(readFileSync(file, 'utf8')) as { grant?: string };
  if (grant !== undefined) await ifPresent(askServer(context, grant, { method: 'DELETE' }));
  rmSync(file);
  context.print(
    `The grant and the key of agent ${name} are deleted. With lws.access-control=owner, a copy of the key still gives access to resources that it created.`,
  );
  return 0;
}

async function ifPresent<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof RefusedCommand && error.status === 404) return undefined;
    throw error;
  });
}
