/**
 * Cost of authentication: GET of one resource in open mode, with an access token, with a DPoP proof per request, and during a
 * flood of invalid tokens. Run it with `node dist/spec/bench/authentication.js [seconds]`. It asserts nothing.
 */
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { rmSync } from 'node:fs';
import { credential, ed25519Identity } from '../support/identity.js';
import { type ServerProcess, startProcess } from '../support/process.js';
import { cpuOf, type LoadResult, load } from './load.js';

const seconds = Number(process.argv[2] ?? 4);
const turtle = `<#it> ${Array.from({ length: 20 }, (_, i) => `<http://example.org/p${i}> "value ${i}"`).join(' ; ')} .`;
const owner = ed25519Identity();

async function server(environment: Record<string, string>): Promise<ServerProcess> {
  return startProcess({ environment: { LWS_LOG_LEVEL: 'warn', ...environment } });
}

const headOf = (root: string, fields: string): string =>
  `GET ${new URL('r', root).pathname} HTTP/1.1\r\nHost: ${new URL(root).host}\r\n${fields}\r\n`;

interface Measured extends LoadResult {
  readonly cpu: number;
}

async function measure({ root, pid }: ServerProcess, head: (number: number) => string | undefined): Promise<Measured> {
  const port = Number(new URL(root).port);
  await load({ port, head, connections: 10, seconds: 4 });
  const before = cpuOf(pid);
  const result = await load({ port, head, connections: 10, seconds });
  return { ...result, cpu: (cpuOf(pid) - before) / result.count };
}

function report(name: string, { perSecond, others, cpu }: Measured, base?: Measured): void {
  const ratio = base ? `  ${(perSecond / base.perSecond).toFixed(2)} x, by CPU ${(base.cpu / cpu).toFixed(2)} x` : '';
  process.stdout.write(
    `${name.padEnd(34)} ${Math.round(perSecond)} per second, ${Math.round(cpu)} us of CPU each${ratio}${others ? `, ${others} not 200` : ''}\n`,
  );
}

async function tokenOf(root: string, proof?: string): Promise<string> {
  const base = root.slice(0, -1);
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    resource: root,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: credential(owner, { aud: base }),
  });
  const response = await fetch(`${base}/.lws/token`, {
    method: 'POST',
    body,
    ...(proof ? { headers: { DPoP: proof } } : {}),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encode({ typ: 'dpop+jwt', alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) });

function proofFor(method: string, url: string, token?: string): string {
  const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') };
  const payload = encode({ htm: method, htu: url, iat: Math.floor(Date.now() / 1000), jti: randomUUID(), ...ath });
  const signature = sign('sha256', Buffer.from(`${header}.${payload}`), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${header}.${payload}.${signature.toString('base64url')}`;
}

const open = await server({ LWS_DEV_OPEN: 'true' });
await fetch(`${open.root}r`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body: turtle });
const base = await measure(open, () => headOf(open.root, ''));
report('open mode', base);

const closed = await server({ LWS_OWNERS: owner.did });
const token = await tokenOf(closed.root);
const bearer = `Authorization: Bearer ${token}\r\n`;
await fetch(`${closed.root}r`, {
  method: 'PUT',
  headers: { 'Content-Type': 'text/turtle', Authorization: `Bearer ${token}` },
  body: turtle,
});
const valid = await measure(closed, () => headOf(closed.root, bearer));
report('access token', valid, base);

const bound = await tokenOf(closed.root, proofFor('POST', `${closed.root}.lws/token`));
const wanted = Math.ceil(base.perSecond * (seconds + 4));
const proofs = Array.from({ length: Math.min(wanted, 90_000) }, () => proofFor('GET', `${closed.root}r`, bound));
let used = 0;
const dpop = await measure(closed, () => {
  const proof = proofs[used++];
  return proof && headOf(closed.root, `Authorization: DPoP ${bound}\r\nDPoP: ${proof}\r\n`);
});
report('access token with a fresh proof', dpop, base);

const port = Number(new URL(closed.root).port);
let flood = 0;
const garbage = (): string => {
  const claims = encode({
    iss: closed.root.slice(0, -1),
    sub: owner.did,
    client_id: owner.did,
    aud: closed.root,
    jti: String(flood++),
  });
  return `Authorization: Bearer ${encode({ alg: 'ES256', typ: 'at+jwt', kid: 'x' })}.${claims}.${'A'.repeat(86)}\r\n`;
};
const [flooded] = await Promise.all([
  measure(closed, () => headOf(closed.root, bearer)),
  load({ port, head: () => headOf(closed.root, garbage()), connections: 10, seconds: seconds + 1 }),
]);
report('access token, invalid token flood', flooded, valid);
await open.stop();
await closed.stop();
for (const { dataDir } of [open, closed]) rmSync(dataDir, { recursive: true, force: true });
