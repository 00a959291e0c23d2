/**
 * Storages in a database, for specs of shared storage and for full runs. `QUADPOD_SPECS_STORE=postgres://…` (password in
 * `LWS_STORE_PASSWORD`) runs all servers of specs on it. `QUADPOD_SPECS_SERVERS=3` starts three servers for each storage behind a
 * round-robin proxy.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.js';

const { QUADPOD_SPECS_STORE: store, QUADPOD_SPECS_SERVERS: servers = '1', LWS_STORE_PASSWORD: password } = process.env;

/** Returns the store settings for a data directory: a schema named by its hash. */
export const storeSettings = (dataDir: string): Readonly<Record<string, string>> =>
  store === undefined
    ? {}
    : {
        store,
        'store.schema': `s_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`,
        ...(password === undefined ? {} : { 'store.password': password }),
      };

/** True if the run has its storages in a database. */
export const isSharedRun = store !== undefined;

/** Number of servers for each storage. */
export const serverCount = store === undefined ? 1 : Number(servers);

interface Closable {
  close(): Promise<unknown>;
}

/**
 * Starts one or several servers on the port. Several have a data directory each and a common proxy.
 * @returns the servers, and a function that stops them. With `keep`, their directories remain
 */
export async function startTogether<S extends Closable>(
  start: (settings: Readonly<Record<string, string>>) => Promise<S>,
  { dataDir, port }: { readonly dataDir: string; readonly port: number },
): Promise<{ readonly servers: readonly S[]; readonly end: (keep: boolean) => Promise<void> }> {
  if (serverCount === 1) {
    const server = await start({});
    return { servers: [server], end: async () => void (await server.close()) };
  }
  const others = Array.from({ length: serverCount - 1 }, (_, index) => `${dataDir}-${index + 2}`);
  mkdirSync(join(dataDir, 'blobs'), { recursive: true });
  const [servers, ports]: [S[], number[]] = [[], []];
  for (const folder of [dataDir, ...others]) {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, 'blobs'))) symlinkSync(join(dataDir, 'blobs'), join(folder, 'blobs'));
    ports.push(await freePort());
    servers.push(await start({ 'data-dir': folder, 'listen-port': String(ports.at(-1)) }));
  }
  const proxy = await startProxy(port, ports);
  const end = async (keep: boolean): Promise<void> => {
    proxy.close();
    for (const server of servers) await server.close();
    if (!keep) for (const folder of others) rmSync(folder, { recursive: true, force: true });
  };
  return { servers, end };
}

/** Proxies connections to the other ports, round robin. */
async function startProxy(port: number, others: readonly number[]): Promise<{ close(): void }> {
  let turn = 0;
  const open = new Set<Socket>();
  const proxy = createServer((socket) => {
    const other = connect(others[turn++ % others.length]!, '127.0.0.1');
    for (const each of [socket, other]) {
      open.add(each);
      each.on('error', () => each.destroy());
      each.on('close', () => open.delete(each));
    }
    socket.pipe(other).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(port, 'localhost', resolve));
  const close = (): void => {
    proxy.close();
    for (const socket of open) socket.destroy();
  };
  return { close };
}
