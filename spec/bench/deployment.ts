/**
 * Many storages in one process, over HTTP: `node dist/spec/bench/deployment.js [STORAGES] [SECONDS]` (1000, 60). Measures a start
 * with all records on disk, the open of a storage, and 32 clients of random storages (Zipf) while a tenth may be open.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { until } from '../support/until.js';

const [count = 1000, seconds = 60] = process.argv.slice(2).map(Number);
const clients = 32;
const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const owner = ed25519Identity();
const port = await freePort();
const agent = new Agent({ keepAlive: true, maxSockets: clients });
const nameOf = (number: number): string => `s${number}`;

function writeRecords(): void {
  mkdirSync(join(folder, 'storages'), { recursive: true });
  for (let number = 0; number < count; number++) {
    const name = nameOf(number);
    const record = {
      name,
      id: name,
      owners: [owner.did],
      settings: {},
      state: 'ready',
      created: '2026-01-01T00:00:00Z',
      revision: name,
    };
    writeFileSync(join(folder, 'storages', `${name}.json`), JSON.stringify(record));
  }
}

interface Running {
  readonly child: ChildProcess;
  readonly startMs: number;
  readonly cpuMs: () => number;
  readonly rssMb: () => number;
}

async function start(): Promise<Running> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--max-semi-space-size=16', 'dist/components/main.js'], {
    env: {
      ...process.env,
      LWS_BASE_URI: `http://localhost:${port}/home`,
      LWS_OWNERS: owner.did,
      LWS_DATA_DIR: folder,
      LWS_STORAGES_ADDRESS: `http://localhost:${port}/{name}/`,
      LWS_STORAGES_MAX_OPEN: String(Math.max(1, count / 10)),
      LWS_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  await until(() =>
    ask('home').then(
      ({ status }) => status > 0,
      () => false,
    ),
  );
  const stat = (): string[] => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return {
    child,
    startMs: performance.now() - began,
    // User and system time, in units of 10 ms.
    cpuMs: () => (Number(stat()[11]) + Number(stat()[12])) * 10,
    rssMb: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024,
  };
}

const stop = ({ child }: Running): Promise<unknown> =>
  new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill();
  });

const tokens = new Map<string, string>();
function tokenOf(name: string): string {
  const token =
    tokens.get(name) ??
    credential(owner, {
      aud: `http://localhost:${port}/${name}`,
      claims: { exp: Math.floor(Date.now() / 1000) + 3600 },
    });
  tokens.set(name, token);
  return token;
}

function ask(name: string, method = 'GET', path = 'it', body?: string): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Bearer ${tokenOf(name)}`,
      ...(body ? { 'Content-Type': 'text/turtle', 'Content-Length': Buffer.byteLength(body) } : {}),
    };
    const req = request({
      port,
      host: '127.0.0.1',
      path: `/${name}/${path}`,
      method,
      agent,
      headers: { ...headers, Host: `localhost:${port}` },
    });
    req.once('error', reject).once('response', (res) => {
      res.resume().once('end', () => resolve({ status: res.statusCode ?? 0, ms: performance.now() - began }));
    });
    req.end(body);
  });
}

const at = (list: number[], part: number): string =>
  (list.sort((a, b) => a - b)[Math.floor(list.length * part)] ?? Number.NaN).toFixed(1);

/** Returns the number of a storage. Low numbers are the most frequent. */
const zipf = (): number => Math.min(count - 1, Math.floor(count ** Math.random()) - 1);

async function duringAll(work: () => Promise<number>): Promise<{ taken: number[]; errors: Map<number, number> }> {
  const end = performance.now() + seconds * 1000;
  const [taken, errors] = [[] as number[], new Map<number, number>()];
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const number = await work();
        const { status, ms } = await ask(nameOf(number));
        if (status === 200) taken.push(ms);
        else errors.set(status, (errors.get(status) ?? 0) + 1);
      }
    }),
  );
  return { taken, errors };
}

let server = await start();
const bare = { cpu: server.cpuMs(), rss: server.rssMb() };
await stop(server);
writeRecords();
server = await start();
console.log(
  `start: ${server.startMs.toFixed(0)} ms, CPU ${server.cpuMs()} ms (${bare.cpu} without storages), ${server.rssMb().toFixed(0)} MiB (${bare.rss.toFixed(0)} without storages)`,
);
const body = '<#it> a <http://schema.org/Note> ; <http://schema.org/text> "Hello" .';
const [made, cpuBefore] = [[] as number[], server.cpuMs()];
for (let number = 0; number < count; number += 4)
  made.push(
    ...(await Promise.all([0, 1, 2, 3].map((more) => ask(nameOf(number + more), 'PUT', 'it', body)))).map(
      ({ status, ms }) => {
        if (status !== 201) throw new Error(`the first PUT returned ${status}`);
        return ms;
      },
    ),
  );
console.log(
  `created ${count}: p50 ${at(made, 0.5)} ms, p99 ${at(made, 0.99)} ms, CPU ${((server.cpuMs() - cpuBefore) / count).toFixed(1)} ms each, ${server.rssMb().toFixed(0)} MiB`,
);
const opened: number[] = [];
const cpuOpening = server.cpuMs();
for (let number = 0; number < Math.min(count, 300); number++) opened.push((await ask(nameOf(number))).ms);
console.log(
  `opened one by one: p50 ${at(opened, 0.5)} ms, p99 ${at(opened, 0.99)} ms, CPU ${((server.cpuMs() - cpuOpening) / opened.length).toFixed(1)} ms each`,
);
const alone = await duringAll(async () => 0);
console.log(
  `one storage alone: ${alone.taken.length} GETs, p50 ${at(alone.taken, 0.5)} ms, p99 ${at(alone.taken, 0.99)} ms`,
);
const warm: number[] = [];
const watcher = setInterval(async () => void warm.push((await ask(nameOf(0))).ms), 20);
const many = await duringAll(async () => zipf());
clearInterval(watcher);
console.log(
  `${clients} clients, Zipf: ${many.taken.length} GETs, p50 ${at(many.taken, 0.5)} ms, p99 ${at(many.taken, 0.99)} ms, an open storage meanwhile: p50 ${at(warm, 0.5)} ms, p99 ${at(warm, 0.99)} ms, errors ${JSON.stringify([...many.errors])}, ${server.rssMb().toFixed(0)} MiB`,
);
await stop(server);
agent.destroy();
rmSync(folder, { recursive: true, force: true });
