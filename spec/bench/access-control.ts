/**
 * Cost of access control: GET of a resource four containers below its ACL, a listing of 100 members including ten with an ACL,
 * and GET with 10 000 stored grants, each compared with owner mode. Run it with `node dist/spec/bench/access-control.js
 * [seconds]`. It asserts nothing.
 */
import { rmSync } from 'node:fs';
import { credential, ed25519Identity } from '../support/identity.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { cpuOf, type LoadResult, load } from './load.js';

const seconds = Number(process.argv[2] ?? 4);
const turtle = `<#it> ${Array.from({ length: 20 }, (_, i) => `<http://example.org/p${i}> "value ${i}"`).join(' ; ')} .`;
const owner = ed25519Identity();
const reader = ed25519Identity();

interface Setting {
  readonly server: ServerProcess;
  readonly bearer: string;
  send(method: string, path: string, body?: string, type?: string): Promise<Response>;
}

async function start(environment: Record<string, string>): Promise<Setting> {
  const server = await startProcess({ environment: { LWS_LOG_LEVEL: 'warn', LWS_OWNERS: owner.did, ...environment } });
  const token = credential(owner, { aud: server.root.slice(0, -1) });
  const send: Setting['send'] = async (method, path, body, type = 'text/turtle') => {
    const answer = await fetch(server.root + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
      ...(body === undefined ? {} : { body }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  };
  for (const path of ['a/', 'a/b/', 'a/b/c/', 'a/b/c/d/', 'list/']) await send('PUT', path);
  await send('PUT', 'a/b/c/d/r', turtle);
  for (let i = 0; i < 100; i++) await send('PUT', `list/m${i}`, turtle);
  return { server, bearer: `Authorization: Bearer ${token}\r\n`, send };
}

interface Measured extends LoadResult {
  readonly cpu: number;
}

async function measure({ server: { root, pid }, bearer }: Setting, path: string): Promise<Measured> {
  const port = Number(new URL(root).port);
  const request = `GET /${path} HTTP/1.1\r\nHost: ${new URL(root).host}\r\n${bearer}\r\n`;
  await load({ port, head: () => request, connections: 10, seconds: 4 });
  const before = cpuOf(pid);
  const result = await load({ port, head: () => request, connections: 10, seconds });
  return { ...result, cpu: (cpuOf(pid) - before) / result.count };
}

function report(name: string, { perSecond, others, cpu }: Measured, base?: Measured): void {
  const ratio = base ? `  ${(perSecond / base.perSecond).toFixed(2)} x, by CPU ${(base.cpu / cpu).toFixed(2)} x` : '';
  process.stdout.write(
    `${name.padEnd(34)} ${Math.round(perSecond)} per second, ${Math.round(cpu)} us of CPU each${ratio}${others ? `, ${others} not 200` : ''}\n`,
  );
}

const rule = (agents: readonly string[]): string => `@prefix acl: <http://www.w3.org/ns/auth/acl#> .
<#a> a acl:Authorization ; acl:agent ${agents.map((agent) => `<${agent}>`).join(', ')} ;
  acl:accessTo <> ; acl:default <> ; acl:mode acl:Read, acl:Write, acl:Control .`;

const plain = await start({});
const wac = await start({ LWS_ACCESS_CONTROL: 'wac' });
await wac.send('PUT', 'a/.acl', rule([owner.did, reader.did]));
for (let i = 0; i < 10; i++) await wac.send('PUT', `list/m${i * 10}.acl`, rule([owner.did, reader.did]));

const [deep, listing] = [await measure(plain, 'a/b/c/d/r'), await measure(plain, 'list/')];
report('GET, owner mode', deep);
report('GET, ACL four containers above', await measure(wac, 'a/b/c/d/r'), deep);
report('listing of 100, owner mode', listing);
report('listing of 100, ten with an ACL', await measure(wac, 'list/'), listing);

const grant = (number: number): string =>
  JSON.stringify({
    type: 'AccessGrant',
    storage: plain.server.root,
    access: [
      {
        action: 'read',
        assignee: `https://somebody.example/${number}`,
        target: { type: 'DataResource', value: `${plain.server.root}list/m${number % 100}` },
      },
    ],
  });
for (let at = 0; at < 10_000; at += 20)
  await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      plain.send('POST', '.lws/access-grants', grant(at + i), 'application/lws+json'),
    ),
  );
report('GET, 10 000 stored grants', await measure(plain, 'a/b/c/d/r'), deep);
for (const { server } of [plain, wac]) {
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
}
