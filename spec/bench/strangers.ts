/**
 * Effect of unauthorized callers on an owner in a deployment: `node dist/spec/bench/strangers.js [SECONDS]` (15). Latencies of
 * sequential GETs at a storage, alone, during requests that open one storage after another, and during unfinished requests.
 */

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/free-port.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { until } from '../support/until.js';

type Attack = 'cold starts' | 'unfinished requests';
interface Sent {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly from?: string;
  /** Begins a body without finishing it. */
  readonly isUnfinished?: boolean;
}

const [count, maxOpen, addresses] = [100, 20, 30];
const names = Array.from({ length: count }, (_, at) => `pod${at}`);
const { PORT, ATTACK } = process.env;
const port = Number(PORT ?? (await freePort()));
const origin = `http://localhost:${port}`;
const agent = new Agent({ keepAlive: true });
const tokenFor = (identity: ReturnType<typeof ed25519Identity>, name: string): string =>
  credential(identity, { aud: `${origin}/${name}`, claims: { exp: Math.floor(Date.now() / 1000) + 3500 } });

function ask({ name, method = 'GET', path = '', headers = {}, from, isUnfinished }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', method, path: `/${name}/${path}`, agent };
    const fields = { Host: `localhost:${port}`, ...headers };
    const req = request({
      ...options,
      headers: fields,
      ...(from ? { localAddress: from, agent: false as const } : {}),
    });
    req.once('error', reject).once('response', (res) => {
      res.resume().once('end', () => resolve(res.statusCode ?? 0));
    });
    if (isUnfinished) req.write('a');
    else req.end();
  });
}

/** Runs in a separate process until it receives a message. */
async function attack(kind: Attack): Promise<void> {
  const statuses: Record<string, number> = {};
  let isOver = false;
  process.once('message', () => {
    process.send!(statuses, () => process.exit());
    isOver = true;
  });
  const work = async (address: number): Promise<void> => {
    const from = `127.0.1.${address + 1}`;
    for (let at = address; !isOver; at++) {
      const name = names[at % count]!;
      const sent =
        kind === 'cold starts'
          ? { name, from, headers: { Authorization: `Bearer ${tokenFor(ed25519Identity(), name)}` } }
          : {
              ...{ name: at % 2 ? names[0]! : name, from, method: 'POST', path: '.lws/sparql', isUnfinished: true },
              headers: { 'Content-Type': 'application/sparql-query', 'Content-Length': '1000' },
            };
      const status = ask(sent)
        .catch(() => 'closed')
        .then((found) => {
          statuses[found] = (statuses[found] ?? 0) + 1;
        });
      if (kind === 'cold starts') await status;
      await sleep(kind === 'cold starts' ? 20 : 500);
    }
  };
  await Promise.all(Array.from({ length: addresses }, (_, address) => work(address)));
}

if (ATTACK !== undefined) await attack(ATTACK as Attack);
else {
  const seconds = Number(process.argv[2] ?? 15);
  const owner = ed25519Identity();
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-bench-'));
  mkdirSync(join(folder, 'storages'));
  for (const name of [...names, 'own']) {
    const record = { name, id: name, revision: 'a', owners: [owner.did], settings: {}, state: 'ready' };
    writeFileSync(
      join(folder, 'storages', `${name}.json`),
      JSON.stringify({ ...record, created: '2026-01-01T00:00:00Z' }),
    );
  }
  const server = spawn(process.execPath, ['--max-semi-space-size=16', 'dist/components/main.js'], {
    env: {
      ...process.env,
      LWS_BASE_URI: `${origin}/home`,
      LWS_DATA_DIR: folder,
      LWS_OWNERS: owner.did,
      LWS_STORAGES_ADDRESS: `${origin}/{name}/`,
      LWS_STORAGES_MAX_OPEN: String(maxOpen),
      LWS_PUBLIC_READ: 'true',
      LWS_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  const headers = { Authorization: `Bearer ${tokenFor(owner, 'own')}` };
  await until(async () => (await ask({ name: 'own', headers }).catch(() => 0)) === 200);
  const latencies = async (): Promise<string> => {
    const taken: number[] = [];
    let failed = 0;
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await sleep(5)) {
      const began = performance.now();
      if ((await ask({ name: 'own', headers }).catch(() => 0)) !== 200) failed++;
      taken.push(performance.now() - began);
    }
    taken.sort((a, b) => a - b);
    const at = (part: number): string => taken[Math.floor(taken.length * part)]!.toFixed(1);
    return `p50 ${at(0.5)}, p99 ${at(0.99)}, max ${taken.at(-1)!.toFixed(0)} ms, ${failed} of ${taken.length} failed`;
  };
  const measures = async (): Promise<string> => {
    const token = { Authorization: `Bearer ${tokenFor(owner, 'home')}` };
    const answer = await fetch(`${origin}/home/.lws/metrics`, { headers: token });
    return [...(await answer.text()).matchAll(/^quadpod_(storages_(?:opened|evicted)_total \d+)/gm)]
      .map(([, line]) => line)
      .join(', ');
  };
  await latencies();
  console.log('alone:', await latencies());
  for (const kind of ['cold starts', 'unfinished requests'] satisfies Attack[]) {
    const attacker = fork(import.meta.filename, [], { env: { ...process.env, PORT: String(port), ATTACK: kind } });
    await sleep(1000);
    console.log(`during ${kind}:`, await latencies());
    attacker.send('end');
    const [statuses] = await once(attacker, 'message');
    console.log(`  responses to them: ${JSON.stringify(statuses)}; ${await measures()}`);
  }
  server.kill();
  await once(server, 'exit');
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}
