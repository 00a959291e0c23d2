/** Server for a spec: in this process, on a free loopback port, with a temporary data directory. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { standardComponents } from '../../components/index.js';
import { createServer as createStorageServer, type Server } from '../../lib/server/server.js';
import { readIdentity, signCredential } from '../../lib/server/storage/owner-credential.js';
import { loadSettings } from '../../lib/settings/settings.js';
import { createLog } from '../../lib/tools/log.js';
import { canBeInDeployment, placeInDeployment, tables } from './deployment.js';
import { freePort } from './free-port.js';
import { request } from './http.js';
import { isOverHttp2, tlsSettings, useHttp2 } from './http2.js';
import { startTogether, storeSettings } from './shared-storage.js';

export { freePort } from './free-port.js';

export interface SpecServer {
  /** Root IRI of the storage, with a trailing slash. */
  readonly root: string;
  readonly dataDir: string;
  /** Data directory of the deployment that contains the storage. */
  readonly parent?: string;
  readonly server: Server;
  /** Log entries so far. */
  readonly log: Record<string, unknown>[];
  /** Bearer credential of the generated owner. Undefined in open mode and with configured owners. */
  readonly ownerToken: string | undefined;
  /** Stops the server. With `keep`, the data directory remains for another start. */
  stop(keep?: boolean): Promise<void>;
}

export interface SpecServerOptions {
  /** Settings as flags: `{'dev.open': 'true'}`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Path of the base URI, such as `/some/path`. */
  readonly path?: string;
  /** Serves TLS and sends requests over HTTP/2. */
  readonly isSecure?: boolean;
  /** Earlier server: starts on its data directory and port. */
  readonly again?: SpecServer;
}

export async function startSpecServer({
  settings = {},
  path = '',
  isSecure = isOverHttp2,
  again,
}: SpecServerOptions = {}): Promise<SpecServer> {
  const dataDir = again?.parent ?? again?.dataDir ?? mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
  let base = again ? again.root.slice(0, -1) : `${isSecure ? 'https' : 'http'}://localhost:${await freePort()}${path}`;
  const { origin } = new URL(base);
  const placed = canBeInDeployment(settings) ? await placeInDeployment(settings, { origin, dataDir }) : undefined;
  base = placed?.base ?? base;
  const tls = base.startsWith('https:') ? tlsSettings : {};
  if (base.startsWith('https:')) useHttp2(new URL(base).origin);
  const log: Record<string, unknown>[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      for (const line of chunk.toString().split('\n')) if (line) log.push(JSON.parse(line));
      done();
    },
  });
  const start = async (own: Readonly<Record<string, string>>): Promise<Server> => {
    const flags = {
      'base-uri': base,
      'data-dir': dataDir,
      'log.level': 'info',
      ...tls,
      ...(placed?.flags ?? settings),
      ...own,
    };
    const server = await createStorageServer(loadSettings(tables, { flags: { ...storeSettings(dataDir), ...flags } }), {
      components: standardComponents,
      log: createLog('info', stream),
    });
    await server.listen();
    return server;
  };
  const { servers, end } = await startTogether(start, { dataDir, port: Number(new URL(base).port) });
  const server = servers[0]!;
  if (placed) await request(`${base}/`, { method: 'HEAD' });
  const key = placed ? join(placed.folder, 'owner.key') : server.mintedOwner;
  const ownerToken =
    key && existsSync(key) ? await signCredential(readIdentity(key), placed ? base : server.baseUri, 3600) : undefined;
  const stop = async (keep = false): Promise<void> => {
    await end(keep);
    if (!keep) rmSync(dataDir, { recursive: true, force: true });
  };
  const folders = placed ? { dataDir: placed.folder, parent: dataDir } : { dataDir };
  return { root: `${base}/`, ...folders, server, log, ownerToken, stop };
}
