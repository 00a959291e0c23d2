/**
 * Latency of type search and type index over HTTP, with sequential requests to 100 000 resources with three of 50 types each. Run
 * it with `node dist/spec/bench/type-search.js [resources]`. It is not a spec and asserts nothing.
 */
import { rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { credential, ed25519Identity } from '../support/identity.js';
import { startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { typeIri, writeCorpus } from './corpus.js';

const resources = Number(process.argv[2] ?? 100_000);
const owner = ed25519Identity();
const sparse = ed25519Identity();
const root = `http://localhost:${await freePort()}/`;
const dataDir = await writeCorpus({
  root,
  resources,
  types: 50,
  sparseOwner: sparse.did,
  everyNth: Math.max(1, resources / 100),
});
const server = await startProcess({ root, dataDir, environment: { LWS_OWNERS: owner.did, LWS_LOG_LEVEL: 'warn' } });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const ask = (path: string, token: string): Promise<{ ms: number; body: string }> =>
  new Promise((resolve, reject) => {
    const started = performance.now();
    request(root + path, { agent, headers: { Authorization: `Bearer ${token}` } }, (res) => {
      let body = '';
      res.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      res.on('end', () => resolve({ ms: performance.now() - started, body }));
    })
      .on('error', reject)
      .end();
  });

const query = (groups: readonly (readonly number[])[], page?: number): string =>
  `.lws/type-search?${groups.map((group) => `type=${encodeURIComponent(group.map(typeIri).join(','))}`).join('&')}${page ? `&page=${page}` : ''}`;

async function measure(
  name: string,
  identity: typeof owner,
  path: (round: number) => string,
  rounds = 200,
): Promise<void> {
  const token = credential(identity, { aud: root.slice(0, -1) });
  for (let i = 0; i < 10; i++) await ask(path(i), token);
  const times: number[] = [];
  let total = '';
  for (let i = 0; i < rounds; i++) {
    const { ms, body } = await ask(path(i), token);
    times.push(ms);
    total = /"totalItems":(\d+)/.exec(body)?.[1] ?? body.slice(0, 100);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  process.stdout.write(`${name.padEnd(44)} ${total.padStart(7)} items  median ${at(0.5)} ms  p99 ${at(0.99)} ms\n`);
}

await measure('(a or b) and c, page 1, owner', owner, (i) => query([[i % 50, (i + 1) % 50], [(i + 2) % 50]]));
await measure('(a or b) and c, one filter, owner', owner, () => query([[1, 2], [3]]));
await measure('one type, page 1, owner', owner, (i) => query([[i % 50]]));
await measure('one type, page 30, owner', owner, (i) => query([[i % 50]], 30));
await measure('three types, owner', owner, (i) => query([[i % 50], [(i + 7) % 50], [(i + 19) % 50]]));
await measure('everything, page 1, owner', owner, () => '.lws/type-search', 20);
await measure('type index, owner', owner, () => '.lws/type-index');
await measure('(a or b) and c, 1 % readable', sparse, (i) => query([[i % 50, (i + 1) % 50], [(i + 2) % 50]]));
await measure('one type, 1 % readable', sparse, (i) => query([[i % 50]]));
await measure('type index, 1 % readable', sparse, () => '.lws/type-index');
agent.destroy();
await server.stop();
rmSync(dataDir, { recursive: true, force: true });
