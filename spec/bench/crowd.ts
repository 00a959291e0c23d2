/**
 * Concurrent queries over HTTP: throughput and latency of short and of long queries, and the latency of an owner's query during a
 * flood of anonymous ones. Run it with `node dist/spec/bench/crowd.js [clients] [seconds]`. It is not a spec and asserts nothing.
 */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { credential, ed25519Identity } from '../support/identity.js';
import { startProcess } from '../support/process.js';

const clients = Number(process.argv[2] ?? 100);
const seconds = Number(process.argv[3] ?? 5);
const [resources, triples] = [500, 200];
const e = 'https://e.example/';
const owner = ed25519Identity();
const server = await startProcess({ environment: { LWS_OWNERS: owner.did, LWS_LOG_LEVEL: 'warn' } });
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const asOwner = (): string => `Bearer ${credential(owner, { aud: server.root.slice(0, -1) })}`;

interface Got {
  readonly status: number;
  readonly ms: number;
}

function send(method: string, path: string, type: string, body: string, authorization?: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const headers = { 'Content-Type': type, ...(authorization === undefined ? {} : { Authorization: authorization }) };
    const req = request(server.root + path, { method, headers, agent }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve({ status: answer.statusCode!, ms: performance.now() - began }));
    });
    req.once('error', reject);
    req.end(body);
  });
}
const ask = (query: string, authorization?: string): Promise<Got> =>
  send('POST', '.lws/sparql', 'application/sparql-query', query, authorization);

const open = `@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
  [] a acl:Authorization ; acl:agent <${owner.did}> ; acl:mode acl:Read, acl:Write, acl:Control ; acl:accessTo <> ; acl:default <> .
  [] a acl:Authorization ; acl:agentClass foaf:Agent ; acl:mode acl:Read ; acl:accessTo <> ; acl:default <> .`;
await send('PUT', '.acl', 'text/turtle', open, asOwner());
await send('PUT', 'g/', 'text/turtle', '', asOwner());
for (let at = 0; at < resources; at++) {
  const line = (each: number): string =>
    `<${e}${at}-${each}> <${e}n> ${each} ; <${e}knows> <${e}${(at * 7 + each) % resources}-${each}> .`;
  const body = Array.from({ length: triples / 2 }, (_, each) => line(each)).join('\n');
  await send('PUT', `g/${at}`, 'text/turtle', body, asOwner());
}

const lookup = (): string => `SELECT * { <${e}${Math.floor(Math.random() * resources)}-3> ?p ?o }`;
const long = (): string => `SELECT ?n (COUNT(?s) AS ?c) { ?s <${e}n> ?n } GROUP BY ?n`;
for (let round = 0; round < 200; round++) await ask(round % 20 === 0 ? long() : lookup());
await sleep(4000);

const sorted = (all: readonly Got[]): number[] => all.map(({ ms }) => ms).sort((a, b) => a - b);
const at = (all: readonly number[], share: number): string => (all[Math.floor(all.length * share)] ?? 0).toFixed(0);

console.log(
  `${clients} clients for ${seconds} s, ${(resources * triples) / 1000} 000 quads, default limits for anonymous callers`,
);
console.log('| query | caller | results per second | rejected | p50 ms | p99 ms |\n|---|---|---|---|---|---|');
for (const [name, query, caller] of [
  ['lookup', lookup, asOwner],
  ['lookup', lookup, () => undefined],
  ['group and count', long, asOwner],
  ['group and count', long, () => undefined],
] as const) {
  const end = performance.now() + seconds * 1000;
  const authorization = caller();
  const all: Got[] = [];
  const run = async (): Promise<void> => {
    while (performance.now() < end) all.push(await ask(query(), authorization));
  };
  await Promise.all(Array.from({ length: clients }, run));
  const [good, bad] = [all.filter(({ status }) => status === 200), all.filter(({ status }) => status !== 200)];
  const times = sorted(good);
  const row = [name, caller === asOwner ? 'owner' : 'anonymous', (good.length / seconds).toFixed(0), bad.length];
  console.log(`| ${[...row, at(times, 0.5), at(times, 0.99)].join(' | ')} |`);
}
for (const [name, query] of [
  ['lookup', lookup],
  ['group and count', long],
] as const) {
  const flood = Array.from({ length: 10 * clients }, () => ask(long()));
  await sleep(50);
  const { ms, status } = await ask(query(), asOwner());
  const all = await Promise.all(flood);
  const refused = all.filter(({ status: each }) => each !== 200).length;
  console.log(
    `the owner's ${name} during ${all.length} long anonymous queries (${refused} rejected): ${status} after ${ms.toFixed(0)} ms, the last long query after ${Math.max(...sorted(all)).toFixed(0)} ms`,
  );
}
process.exit();
