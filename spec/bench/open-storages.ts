/**
 * What it takes to have many storages open in one process: memory, threads and CPU of each, and what closing leaves behind.
 *
 *     node --expose-gc dist/spec/bench/open-storages.js 100
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
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

/** Memory in KiB, with threads. */
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
// What a server loads when it was not asked for a while comes meanwhile.
await sleep(5_000);
const idle = each(await taken(), before);
for (const server of servers.splice(0)) await server.close();
const closed = await taken();
for (let number = 1; number <= count; number++) await (await open(number)).close();
const again = each(await taken(), closed);
await first.close();
const openMs = { p50: times[times.length >> 1], p95: times[Math.floor(times.length * 0.95)] };
console.log(JSON.stringify({ count, openMs, opened, idle, again }));
rmSync(folder, { recursive: true, force: true });
process.exit(0);
