/** `quadpod connect URL`: opens the proxy and prints its URLs, or relays messages of an agent. */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../../lib/component/component.js';
import { givenIdentity } from '../../lib/server/storage/owner-credential.js';
import { CommandError } from '../../lib/tools/errors.js';
import { relayAgent } from './agent-relay.js';
import { openProxy } from './proxy.js';
import { Session } from './session.js';

/** Runs until SIGINT or SIGTERM. @throws CommandError or SettingsError if it cannot start */
export async function runConnect({ operands, flags, dataDir, print }: CommandContext): Promise<number> {
  const port = Number(flags['port'] ?? 0);
  if (!Number.isSafeInteger(port) || port < 0 || port > 65_535)
    throw new CommandError(`--port is ${flags['port']}. Use a number from 0 to 65535.`);
  const key = flags['key'] ?? join(dataDir, 'owner.key');
  const identity = givenIdentity(flags['new-key'] === undefined ? { ...flags, key } : flags);
  assertPrivate(flags['new-key'] ?? key);
  const isReadOnly = flags['read-only'] === 'true';
  if (flags['mcp'] === 'true') {
    if (isReadOnly)
      throw new CommandError('--mcp and --read-only exclude each other. Give the agent a grant to read only.');
    const session = await Session.open(operands[0]!, identity);
    await relayAgent(session, process.stdin, process.stdout).finally(() => session.close());
    return 0;
  }
  const proxy = await openProxy({ url: operands[0]!, identity, port, isReadOnly });
  print(`Identity: ${identity.did}`);
  print(`URL:      ${proxy.url}`);
  if (proxy.sparql !== undefined) print(`SPARQL:   ${proxy.sparql}`);
  if (proxy.agents !== undefined) print(`MCP:      ${proxy.agents}`);
  print(
    `Programs that know these URLs have the ${isReadOnly ? 'read access' : 'access'} of the identity. Press Ctrl+C to end it.`,
  );
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await proxy.close();
  return 0;
}

/** Asserts that a key file is private. @throws CommandError if other users can read it */
function assertPrivate(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & 0o077) === 0) return;
  throw new CommandError(`Other users can read ${file}. Use chmod 600 ${file}, and a new key if others have read it.`);
}
