/**
 * CPU time of a page of a large container with members that the caller cannot read, repeated and after a write. Run it with `node
 * dist/spec/bench/large-container.js [members] [closed members]`. It asserts nothing.
 */
import { rmSync } from 'node:fs';
import { credential, ed25519Identity } from '../support/identity.js';
import { startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { writeCorpus } from './corpus.js';
import { cpuOf } from './load.js';

const [members, closed] = [Number(process.argv[2] ?? 100_000), Number(process.argv[3] ?? 1)];
const owner = ed25519Identity();
const root = `http://localhost:${await freePort()}/`;
const dataDir = await writeCorpus({ root, resources: members, types: 50, sparseOwner: owner.did, everyNth: members });
const environment = { LWS_OWNERS: owner.did, LWS_ACCESS_CONTROL: 'wac', LWS_LOG_LEVEL: 'warn' };
const server = await startProcess({ root, dataDir, environment });
const token = credential(owner, { aud: root.slice(0, -1) });

async function send(method: string, path: string, { by, body }: { by?: 'owner'; body?: string } = {}): Promise<string> {
  const answer = await fetch(root + path, {
    method,
    headers: {
      Accept: 'application/lws+json',
      ...(by ? { Authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'text/turtle', 'If-Match': '*' }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text;
}

const rule = (name: string, agent: string, modes: string): string =>
  `<#${name}> a acl:Authorization ; ${agent} ; acl:accessTo <> ; acl:default <> ; acl:mode ${modes} .`;
const prefix = '@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .';
const ofOwner = `${prefix} ${rule('o', `acl:agent <${owner.did}>`, 'acl:Read, acl:Write, acl:Control')}`;
await send('PUT', '.acl', { by: 'owner', body: `${ofOwner} ${rule('p', 'acl:agentClass foaf:Agent', 'acl:Read')}` });
const names = JSON.parse(await send('GET', '?page=2', { by: 'owner' })).items.map(({ id }: { id: string }) => id);
for (const id of names.slice(0, closed)) {
  const answer = await fetch(`${id}.acl`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/turtle' },
    body: ofOwner,
  });
  if (!answer.ok) throw new Error(`PUT ${id}.acl: ${answer.status}`);
}

/** Waits until the server has built its indexes. */
async function idle(): Promise<void> {
  for (let before = -1; cpuOf(server.pid) - before > 20_000; ) {
    before = cpuOf(server.pid);
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function measure(name: string, rounds: number, work: (round: number) => Promise<unknown>): Promise<void> {
  await idle();
  const before = cpuOf(server.pid);
  for (let round = 0; round < rounds; round++) await work(round);
  process.stdout.write(`${name.padEnd(36)} ${((cpuOf(server.pid) - before) / 1000 / rounds).toFixed(1)} ms of CPU\n`);
}

const last = Math.floor(members / 1000);
const create = (name: string): Promise<unknown> =>
  fetch(root + name, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'text/turtle' },
    body: '',
  });
for (const by of [undefined, 'owner'] as const) {
  const who = by ?? 'public';
  const list = (page: number): Promise<string> => send('GET', `?page=${page}`, by ? { by } : {});
  await measure(`${who}: page 1, first request`, 1, () => list(1));
  for (const page of [1, last >> 1, last]) {
    await measure(`${who}: page ${page}`, 20, () => list(page));
    await measure(`${who}: page ${page} and a write`, 20, async (round) => {
      await create(`r0-${who}-${page}-${round}`);
      return list(page);
    });
  }
}
await server.stop();
rmSync(dataDir, { recursive: true, force: true });
