/**
 * Isolation of storages in a deployment: `node dist/spec/bench/neighbours.js [SECONDS]` (15). Latencies of sequential GETs, PUTs
 * and queries at a storage, alone, and while another storage has a hundred clients with heavy queries, large JSON-LD documents
 * and an import.
 */

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { runProcess } from '../support/process.js';
import { until } from '../support/until.js';

const seconds = Number(process.argv[2] ?? 15);

const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
const owner = ed25519Identity();
const port = await freePort();
const origin = `http://localhost:${port}`;
const agent = new Agent({ keepAlive: true });
const environment = {
  LWS_OWNERS: owner.did,
  LWS_STORAGES_ADDRESS: `${origin}/{name}/`,
  LWS_LOG_LEVEL: 'warn',
  LWS_DEV_OPEN: 'false',
};
for (const name of ['noisy', 'other'])
  await runProcess(['storage', 'add', name, '--owner', owner.did], {
    dataDir: folder,
    root: `${origin}/home/`,
    environment,
  });
const server = spawn(process.execPath, ['--max-semi-space-size=16', 'dist/components/main.js'], {
  env: { ...process.env, ...environment, LWS_BASE_URI: `${origin}/home`, LWS_DATA_DIR: folder },
  stdio: ['ignore', 'inherit', 'ignore'],
});

interface Sent {
  readonly name: 'noisy' | 'other';
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
}
const tokens = Object.fromEntries(
  ['noisy', 'other'].map((name) => [
    name,
    credential(owner, { aud: `${origin}/${name}`, claims: { exp: Math.floor(Date.now() / 1000) + 3500 } }),
  ]),
);

function ask({ name, method, path, type, body }: Sent): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const headers = {
      Host: `localhost:${port}`,
      Authorization: `Bearer ${tokens[name]}`,
      ...(type === undefined ? {} : { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body ?? '') }),
    };
    const req = request({ port, host: '127.0.0.1', method, path: `/${name}/${path}`, agent, headers });
    req.once('error', reject).once('response', (res) => {
      res.resume().once('end', () => resolve({ status: res.statusCode ?? 0, ms: performance.now() - began }));
    });
    req.end(body);
  });
}

const turtle = Array.from({ length: 20 }, (_, each) => `<#s${each}> <http://e.example/p> "${each}" .`).join('\n');
let count = 0;
const [get, put, query] = [
  () => ask({ name: 'other', method: 'GET', path: 'it' }),
  () => ask({ name: 'other', method: 'PUT', path: `r${count++}`, type: 'text/turtle', body: turtle }),
  () =>
    ask({
      name: 'other',
      method: 'POST',
      path: '.lws/sparql',
      type: 'application/sparql-query',
      body: 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }',
    }),
];

async function latencies(): Promise<Record<string, string>> {
  const taken: Record<string, number[]> = { GET: [], PUT: [], query: [] };
  const statuses = new Set<number>();
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(5))
    for (const [kind, work] of [
      ['GET', get],
      ['PUT', put],
      ['query', query],
    ] as const) {
      const { status, ms } = await work();
      statuses.add(status);
      taken[kind]!.push(ms);
    }
  const shown = (list: number[]): string => {
    list.sort((a, b) => a - b);
    const at = (part: number): string => list[Math.floor(list.length * part)]!.toFixed(1);
    return `${at(0.5)}, ${at(0.99)}, ${list.at(-1)!.toFixed(0)}`;
  };
  const rows = Object.entries(taken).map(([kind, list]) => [kind, shown(list)]);
  return Object.fromEntries([...rows, ['statuses', [...statuses].join()]]);
}

await until(() =>
  get().then(
    () => true,
    () => false,
  ),
);
await ask({ name: 'other', method: 'PUT', path: 'it', type: 'text/turtle', body: turtle });
const things = Array.from({ length: 60_000 }, (_, each) => `<#s${each}> <http://e.example/p> "${each % 100}" .`).join(
  '\n',
);
await ask({ name: 'noisy', method: 'PUT', path: 'things', type: 'text/turtle', body: things });
// Raises the priority of this program if permitted, so that only delays of the server are measured.
try {
  setPriority(0, -15);
} catch (error) {
  console.log(`measured at normal priority: ${(error as Error).message}`);
}
await latencies();
console.log('alone, p50, p99 and max in ms:', await latencies());

const noise = fork(join(import.meta.dirname, 'noise.js'), [], {
  env: { ...process.env, NOISE: JSON.stringify({ port, token: tokens['noisy'] }) },
});
await sleep(2000);
console.log('with a noisy neighbour:', await latencies());
noise.send('end');
await once(noise, 'exit');
server.kill();
await once(server, 'exit');
agent.destroy();
rmSync(folder, { recursive: true, force: true });
