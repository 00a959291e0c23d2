/**
 * Cost of open storages in one process: memory, threads and CPU time of each, and the memory left after closing. Run it with
 * `node --expose-gc dist/spec/bench/open-storages.js 100`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createDispatcher, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, type StorageServer } from '../../components/quadpod.js';

const count = Number(process.argv[2] ?? 100);
const folder = mkdtempSync(join(tmpdir(), 'quadpod-many-'));
const open = (number: number): Promise<StorageServer> =>
  createServer({ 'lws.base-uri': `http://localhost/${number}`, 'lws.data-dir': join(folder, String(number)) });

const gc = (globalThis as { gc?: () => void }).gc ?? (() => {});
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Returns the memory in KiB and the number of threads. */
async function taken() {
  await sleep(100);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  const [, pss] = /^Pss:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8')) ?? [];
  return {
    pss: Number(pss),
    heap: heapUsed >> 10,
    external: external >> 10,
    threads: readdirSync('/proc/self/task').length,
  };
}

/** Queries all storages at once, with three clients each. Returns responses by status, the maximum number of threads and the duration. */
async function queried() {
  const listeners = servers.map((server) => server.app.callback());
  const dispatcher = createDispatcher((req, res) => listeners[Number(/^\/(\d+)/.exec(req.url!)![1]) - 1]!(req, res));
  await new Promise<void>((resolve) => dispatcher.listen(0, '127.0.0.1', resolve));
  const { port } = dispatcher.address() as AddressInfo;
  let most = 0;
  const count = (): number => readdirSync('/proc/self/task').length - before.threads;
  const watch = setInterval(() => {
    most = Math.max(most, count());
  }, 5);
  const statuses: Record<number, number> = {};
  const began = performance.now();
  const ask = (number: number, localAddress: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const path = `/${number}/.lws/sparql?query=${encodeURIComponent('SELECT * { ?s ?p ?o } LIMIT 5')}`;
      const headers = { Host: 'localhost', Accept: 'application/sparql-results+json' };
      get({ host: '127.0.0.1', port, path, headers, localAddress, agent: false }, (response) => {
        statuses[response.statusCode!] = (statuses[response.statusCode!] ?? 0) + 1;
        response.resume().on('end', resolve);
      }).on('error', reject);
    });
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  await Promise.all(servers.flatMap((_, index) => addresses.map((address) => ask(index + 1, address))));
  clearInterval(watch);
  await new Promise((resolve) => dispatcher.close(resolve));
  return { statuses, threadsAtMost: most, ms: Math.round(performance.now() - began) };
}

type Taken = Awaited<ReturnType<typeof taken>>;
const each = (after: Taken, before: Taken) => ({
  pssKib: Math.round((after.pss - before.pss) / count),
  heapKib: Math.round((after.heap - before.heap) / count),
  externalKib: Math.round((after.external - before.external) / count),
  threads: after.threads - before.threads,
});

const first = await open(0);
const before = await taken();
const times: number[] = [];
const servers: StorageServer[] = [];
for (let number = 1; number <= count; number++) {
  const began = cpuMs();
  servers.push(await open(number));
  times.push(cpuMs() - began);
}
times.sort((one, other) => one - other);
const opened = each(await taken(), before);
// Waits for the modules that an idle server preloads.
await sleep(5_000);
const idle = each(await taken(), before);
const queries = await queried();
for (const server of servers.splice(0)) await server.close();
const closed = await taken();
for (let number = 1; number <= count; number++) await (await open(number)).close();
const again = each(await taken(), closed);
await first.close();
const openMs = { p50: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)] };
console.log(JSON.stringify({ count, openMs, opened, idle, queries, again }));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
