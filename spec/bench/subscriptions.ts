/**
 * Cost of the owner's PUTs with subscriptions of other agents to the root, at the limits for agents without and with a grant,
 * compared with none: CPU time of the HTTP thread and of the process for sequential PUTs, including concurrent deliveries. The
 * three servers alternate. Run it with `node dist/spec/bench/subscriptions.js [PUTs] [identities]`. It asserts nothing.
 */
import { readFileSync, rmSync } from 'node:fs';
import { credential, ed25519Identity, type Identity, nowSeconds } from '../support/identity.js';
import { type InboxHost, startInboxHost } from '../support/inbox.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { cpuOf } from './load.js';

const puts = Number(process.argv[2] ?? 300);
const identities = Number(process.argv[3] ?? 24);
const rounds = 5;
const hosts: InboxHost[] = [];
for (let at = 0; at < 8; at++) hosts.push(await startInboxHost());
const owner = ed25519Identity();

/** Returns the CPU time of the main thread, which serves HTTP, in microseconds. */
const httpThread = (pid: number): number => {
  const [ran] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(ran) / 1000;
};

const tokenOf = ({ root }: ServerProcess, identity: Identity): string =>
  credential(identity, { aud: root.slice(0, -1), claims: { exp: nowSeconds() + 3000 } });

async function send(url: string, token: string, init: RequestInit): Promise<void> {
  const answer = await fetch(url, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${init.method} ${url}: ${answer.status} ${text}`);
}

interface Kind {
  readonly name: string;
  readonly count: number;
  readonly hasGrant: boolean;
}

async function begin({ count, hasGrant }: Kind): Promise<{ server: ServerProcess; token: string }> {
  const server = await startProcess({
    environment: {
      LWS_DEV_OPEN: 'false',
      LWS_OWNERS: owner.did,
      LWS_PUBLIC_READ: 'true',
      LWS_SUBSCRIPTIONS_MAX_PER_ADDRESS: '100000',
      LWS_REQUIRE_CONDITIONAL_WRITES: 'false',
      LWS_WEBHOOK_ALLOWED_HOSTS: hosts.map(({ authority }) => authority).join(),
    },
  });
  const token = tokenOf(server, owner);
  for (let number = 0; number < Math.min(identities, count); number++) {
    const subscriber = ed25519Identity();
    if (hasGrant) await grantRead(server, token, subscriber.did);
    const theirs = tokenOf(server, subscriber);
    for (let at = number; at < count; at += identities)
      await send(`${server.root}.lws/subscriptions`, theirs, {
        method: 'POST',
        headers: { 'Content-Type': 'application/lws+json' },
        body: JSON.stringify({
          type: 'WebhookSubscription',
          topic: server.root,
          inbox: hosts[at % hosts.length]!.inbox(),
        }),
      });
  }
  return { server, token };
}

async function grantRead({ root }: ServerProcess, token: string, did: string): Promise<void> {
  await send(`${root}.lws/access-grants`, token, {
    method: 'POST',
    headers: { 'Content-Type': 'application/lws+json' },
    body: JSON.stringify(grant(did, root)),
  });
}

const grant = (assignee: string, root: string): object => ({
  '@context': 'https://www.w3.org/ns/lws/v1',
  type: ['AccessGrant'],
  storage: root,
  access: [
    { type: ['AccessPolicy'], action: ['read'], assignee, target: { type: 'StorageResource', value: [`${root}r1`] } },
  ],
});

const delivered = (): number => hosts.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

interface Cost {
  /** CPU time of the HTTP thread and of the process, in microseconds. */
  readonly http: number;
  readonly all: number;
  readonly ms: number;
  readonly deliveries: number;
}

async function measure({ server: { pid, root }, token }: { server: ServerProcess; token: string }): Promise<Cost> {
  const before = { http: httpThread(pid), all: cpuOf(pid), delivered: delivered() };
  const took: number[] = [];
  for (let at = 0; at < puts; at++) {
    const began = performance.now();
    await send(`${root}r${at % 50}`, token, {
      method: 'PUT',
      headers: { 'Content-Type': 'text/plain' },
      body: `${at}`,
    });
    took.push(performance.now() - began);
  }
  return {
    http: (httpThread(pid) - before.http) / puts,
    all: (cpuOf(pid) - before.all) / puts,
    ms: median(took),
    deliveries: delivered() - before.delivered,
  };
}

const kinds: readonly Kind[] = [
  { name: 'none', count: 0, hasGrant: false },
  { name: 'without a grant', count: 200, hasGrant: false },
  { name: 'with a grant', count: 2000, hasGrant: true },
];
const begun = [];
for (const kind of kinds) begun.push(await begin(kind));
const costs: Cost[][] = kinds.map(() => []);
for (const each of begun) await measure(each);
for (let round = 0; round < rounds; round++)
  for (const [at, each] of begun.entries()) costs[at]!.push(await measure(each));
const of = (at: number, what: keyof Cost): number => median(costs[at]!.map((cost) => cost[what]));
for (const [at, { name, count }] of kinds.entries())
  console.log(
    `${name} (${count}): HTTP thread ${of(at, 'http').toFixed(0)} us per PUT (${(of(at, 'http') / of(0, 'http')).toFixed(2)}), ` +
      `process ${of(at, 'all').toFixed(0)} us (${(of(at, 'all') / of(0, 'all')).toFixed(2)}), median ${of(at, 'ms').toFixed(2)} ms, ` +
      `${of(at, 'deliveries')} deliveries of all servers`,
  );
for (const { server } of begun) {
  await server.kill();
  rmSync(server.dataDir, { recursive: true, force: true });
}
for (const host of hosts) host.close();
process.exit(0);
