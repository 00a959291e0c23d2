/**
 * Cost of notifications: creation with 1 000 subscriptions on 1 000 containers compared with none (the writes go to one of those
 * containers), and the rate of deliveries of a backlog to one local inbox, alone and with ten unresponsive inboxes. Run it with
 * `node dist/spec/bench/notifications.js [seconds] [events]`. It asserts nothing.
 */
import { rmSync } from 'node:fs';
import { credential, ed25519Identity, nowSeconds } from '../support/identity.js';
import { accepting, type InboxHost, silent, startInboxHost } from '../support/inbox.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { cpuOf, load } from './load.js';

const seconds = Number(process.argv[2] ?? 4);
const events = Number(process.argv[3] ?? 10_000);
const turtle = `<#it> ${Array.from({ length: 20 }, (_, i) => `<http://example.org/p${i}> "value ${i}"`).join(' ; ')} .`;
const containers = 1000;
const host = await startInboxHost();
const dead: InboxHost[] = [];
for (let i = 0; i < 10; i++) dead.push(await startInboxHost());

const started = (): Promise<ServerProcess> =>
  startProcess({
    environment: { LWS_WEBHOOK_ALLOWED_HOSTS: [host, ...dead].map(({ authority }) => authority).join() },
  });

async function send(
  { root }: ServerProcess,
  method: string,
  path: string,
  type?: string,
  body?: string,
  token?: string,
) {
  const answer = await fetch(root + path, {
    method,
    headers: { ...(type ? { 'Content-Type': type } : {}), ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
}

/** Subscribes with ten identities, a hundred times each: the limit per identity. */
async function subscribe(server: ServerProcess, topics: readonly string[], inbox: (number: number) => string) {
  let token = '';
  for (const [number, topic] of topics.entries()) {
    if (number % 100 === 0)
      token = credential(ed25519Identity(), { aud: server.root.slice(0, -1), claims: { exp: nowSeconds() + 3000 } });
    const document = { type: 'WebhookSubscription', topic: server.root + topic, inbox: inbox(number) };
    await send(server, 'POST', '.lws/subscriptions', 'application/lws+json', JSON.stringify(document), token);
  }
}
const paths = Array.from({ length: containers }, (_, i) => `c${i}/`);
const fill = async (server: ServerProcess): Promise<void> => {
  for (const path of paths) await send(server, 'PUT', path);
};

let names = 0;
async function creations({ root, pid }: ServerProcess, container: string, forSeconds: number) {
  const { port, host: authority } = new URL(root);
  const head = (): string =>
    `PUT /${container}r${names++} HTTP/1.1\r\nHost: ${authority}\r\nContent-Type: text/turtle\r\nContent-Length: ${turtle.length}\r\n\r\n${turtle}`;
  const before = cpuOf(pid);
  const { perSecond, count } = await load({ port: Number(port), head, connections: 10, seconds: forSeconds });
  return { perSecond, cpu: (cpuOf(pid) - before) / count };
}
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

async function compare(): Promise<void> {
  const [none, many] = [await started(), await started()];
  for (const server of [none, many]) await fill(server);
  const inboxes = paths.map(() => host.inbox());
  await subscribe(many, paths, (number) => inboxes[number]!);
  const rates = { none: [] as number[], other: [] as number[], heard: [] as number[] };
  for (const server of [none, many]) await creations(server, 'c1/', 1);
  await send(many, 'PUT', 'unheard/');
  for (let round = 0; round < 3; round++) {
    rates.none.push((await creations(none, 'c1/', seconds)).perSecond);
    rates.other.push((await creations(many, 'unheard/', seconds)).perSecond);
    rates.heard.push((await creations(many, 'c1/', seconds)).perSecond);
    const delivered = (): number => host.deliveries.length;
    for (let before = -1; before !== delivered(); await new Promise((resolve) => setTimeout(resolve, 500)))
      before = delivered();
  }
  const base = median(rates.none);
  console.log(`create, no subscriptions: ${base.toFixed(0)}/s`);
  console.log(`create, 1 000 subscriptions, none matches: ${(median(rates.other) / base).toFixed(2)} x`);
  console.log(
    `create, 1 000 subscriptions, one matches and is delivered: ${(median(rates.heard) / base).toFixed(2)} x`,
  );
  for (const server of [none, many]) await end(server);
}

async function end(server: ServerProcess): Promise<void> {
  await server.kill();
  rmSync(server.dataDir, { recursive: true, force: true });
}

/** Writes events for an unresponsive inbox, makes it respond, and measures the deliveries. */
async function drain(withDead: boolean): Promise<void> {
  const server = await started();
  await send(server, 'PUT', 'c1/');
  host.deliveries.length = 0;
  const inbox = host.inbox(silent);
  await subscribe(server, ['c1/'], () => inbox);
  if (withDead) await subscribe(server, Array(10).fill('c1/'), (number) => dead[number]!.inbox(silent));
  const count = withDead ? events / 5 : events;
  const first = names;
  const tasks = Array.from({ length: 10 }, async () => {
    while (names - first < count) await send(server, 'PUT', `c1/r${names++}`, 'text/plain', 'x');
  });
  await Promise.all(tasks);
  host.behave(inbox, accepting);
  host.closeConnections();
  const before = host.deliveries.length;
  await host.received(inbox, before + 1, 60_000);
  const at = performance.now();
  const cpu = cpuOf(server.pid);
  await host.received(inbox, names - first, 120_000);
  const rate = (names - first) / ((performance.now() - at) / 1000);
  const each = (cpuOf(server.pid) - cpu) / (names - first);
  const beside = withDead ? ' with ten unresponsive inboxes' : '';
  console.log(
    `drain of ${names - first} events to one inbox${beside}: ${rate.toFixed(0)}/s, ${each.toFixed(0)} us of CPU each`,
  );
  await end(server);
}

await drain(false);
await drain(true);
await compare();
for (const each of [host, ...dead]) each.close();
process.exit(0);
