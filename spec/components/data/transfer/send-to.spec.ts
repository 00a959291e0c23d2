/** Imports into another server by plain HTTP requests. Independent of the sender's implementation. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { ImportState, WantedImport } from '../../../../components/data/transfer/import-state.js';
import { sendTo, targetOf } from '../../../../components/data/transfer/send-to.js';
import { formatModules } from '../../../support/formats.js';
import { type Answer, request } from '../../../support/http.js';
import { credential, ed25519Identity } from '../../../support/identity.js';
import { runProcess } from '../../../support/process.js';
import { freePort, type SpecServer, startSpecServer } from '../../../support/server.js';

let folder: string;
let count = 0;

/** Creates a directory with files. `undefined` creates a subdirectory. */
function sourceWith(files: Readonly<Record<string, string | Uint8Array | undefined>>): string {
  const source = join(folder, `source-${count++}`);
  mkdirSync(source);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(content === undefined ? join(source, path) : dirname(join(source, path)), { recursive: true });
    if (content !== undefined) writeFileSync(join(source, path), content);
  }
  return source;
}

function fileWith(name: string, content: string): string {
  const file = join(folder, `${count++}-${name}`);
  writeFileSync(file, content);
  return file;
}

const send = (
  source: string,
  into: string,
  token?: string,
  options: Partial<WantedImport> = {},
): Promise<ImportState> =>
  sendTo(
    { formats: formatModules, flags: token === undefined ? {} : { token } },
    {
      ...{ source, format: undefined, into, rewrite: [], conflict: 'fail', dryRun: false, resume: false },
      ...{ grants: false, acls: false, ...options },
    },
    () => {},
  );
const toldOf = ({ told }: ImportState): string[] => told.map(({ source, why }) => `${source}: ${why}`);
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was thrown',
    (error: Error) => error.message,
  );

describe('Import into another server', () => {
  const owner = ed25519Identity();
  let target: SpecServer;
  let token: string;
  let bearer: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-send-'));
    target = await startSpecServer({ settings: { owners: owner.did } });
    bearer = credential(owner, { aud: target.root.slice(0, -1) });
    token = fileWith('token', `${bearer}\n`);
  });
  after(async () => {
    await target.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const fresh = (): string => `${target.root}t${count++}/`;
  const get = (iri: string, accept = '*/*'): Promise<Answer> =>
    request(iri, { headers: { Authorization: `Bearer ${bearer}`, Accept: accept } });

  it('creates containers, graphs and files of all sizes', async () => {
    const large = new Uint8Array(3 << 20).fill(7);
    const triples = Array.from({ length: 21_000 }, (_, index) => `<urn:s${index}> <urn:p> "${index}" .\n`).join('');
    const source = sourceWith({
      'a/one.ttl': '@prefix s: <https://schema.org/> . <> s:name "ü" ; s:about <../x.json>, [ s:name "b" ] .',
      'a/ü name, (1).txt': 'text',
      'x.json': '{"a":1}',
      'large.bin': large,
      'large.nt': triples,
      empty: undefined,
    });
    const into = fresh();
    const words = ['import', source, '--to', into, '--token', token];
    const { code, stdout, stderr } = await runProcess(words, { environment: { LWS_CONSOLE_ENABLED: 'false' } });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(
      `${into}: 8 resources created, 0 replaced, 0 added to, 0 skipped, 0 left out; 21004 quads.`,
    );
    expect(stderr).not.to.include(bearer);
    const one = await get(`${into}a/one.ttl`);
    expect(one.text).to.include('s:name "ü"').and.include('x.json>');
    expect((await get(`${into}a/%C3%BC%20name,%20(1).txt`)).text).to.equal('text');
    expect((await get(`${into}x.json`)).headers['content-type']).to.equal('application/json');
    expect((await get(`${into}large.bin`)).bytes.equals(Buffer.from(large))).to.equal(true);
    expect((await get(`${into}large.nt`)).text.match(/\n/g)).to.have.length(21_000);
    expect((await get(`${into}empty/`)).status).to.equal(200);
  });

  it('handles existing resources according to --on-conflict', async () => {
    const into = fresh();
    const large = new Uint8Array((1 << 20) + 1);
    const source = sourceWith({ 'a.txt': 'old', 'large.bin': large });
    expect(await send(source, into, token)).to.include({ status: 'done', created: 3 });
    writeFileSync(join(source, 'a.txt'), 'new');
    writeFileSync(join(source, 'large.bin'), large.fill(1));
    const failed = await send(source, into, token);
    expect(failed).to.include({ status: 'failed', created: 0 });
    expect(failed.failure).to.match(/^(?:a\.txt|large\.bin): .* already exists\. Use --on-conflict/);
    expect(await send(source, into, token, { conflict: 'skip' })).to.include({ status: 'done', skipped: 2 });
    const dry = await send(source, into, token, { conflict: 'replace', dryRun: true });
    expect(dry).to.include({ status: 'done', replaced: 2, created: 0 });
    expect((await get(`${into}a.txt`)).text).to.equal('old');
    expect(await send(source, into, token, { conflict: 'replace' })).to.include({ status: 'done', replaced: 2 });
    expect((await get(`${into}a.txt`)).text).to.equal('new');
    expect((await get(`${into}large.bin`)).bytes.equals(Buffer.from(large))).to.equal(true);
  });

  it('creates the containers of a dump, and reports repeated graphs and invalid names', async () => {
    const into = fresh();
    const line = (path: string, object: string): string => `<urn:s> <urn:p> "${object}" <${into}${path}> .\n`;
    const dump = fileWith('dump.nq', line('c/d/a', '1') + line('b', '2') + line('c/d/a', '3') + line('%2e%2e/e', '4'));
    const state = await send(dump, into, token);
    expect(state).to.include({ status: 'done', created: 5, quads: 2, leftOut: 2 });
    expect((await get(`${into}c/d/a`)).text)
      .to.include('"1"')
      .and.not.include('"3"');
    expect(toldOf(state)[0]).to.match(/dump\.nq:3: .*c\/d\/a was sent before, .* sort the dump/);
    expect(toldOf(state)[1]).to.match(/dump\.nq:4: Its name is not valid in HTTP requests/);
    expect((await get(`${target.root}e`)).status).to.equal(404);
  });

  it('stores no part of a graph if its dump breaks, and all preceding resources', async () => {
    const into = fresh();
    const line = (path: string, index: number): string => `<urn:s> <urn:p> "${index}" <${into}${path}> .\n`;
    const large = Array.from({ length: 45_000 }, (_, index) => line('large', index)).join('');
    const state = await send(fileWith('broken.nq', `${line('a', 1)}${large}<urn:s> <urn:p> "`), into, token);
    expect(state).to.include({ status: 'failed', created: 2 });
    expect(state.failure).to.match(/broken\.nq:45002: /);
    expect((await get(`${into}a`)).text).to.include('"1"');
    expect((await get(`${into}large`)).status).to.equal(404);
  });

  it('sends links as fields, and reports literal links and ACLs', async () => {
    const into = fresh();
    const source = sourceWith({
      '.internal/setup/current-base-url$.json': '{"payload":"http://old.example/"}',
      'a.txt': 'a',
      'a.txt.meta':
        '<http://old.example/a.txt> a <urn:T> ; <urn:r> <http://old.example/b> , <urn:c> ; <urn:text> "text" .',
      'a.txt.acl': '<#a> a <http://www.w3.org/ns/auth/acl#Authorization> .',
    });
    const state = await send(source, into, token);
    expect(state).to.include({ status: 'done', created: 2 });
    const links = JSON.parse((await get(`${into}a.txt.meta`)).text).linkset[0];
    expect(links.type.map(({ href }: { href: string }) => href)).to.include('urn:T');
    expect(links['urn:r']).to.deep.equal([{ href: `${into}b` }, { href: 'urn:c' }]);
    const told = toldOf(state).join('\n');
    expect(told).to.match(/a\.txt: 1 of its links are literals/);
    expect(told).to.include(`${into}: 1 access control lists: they are imported only by their own server`);
  });

  it('leaves out rejected resources, with the reason', async () => {
    const into = fresh();
    const source = sourceWith({ 'a.json': 'no JSON', 'b.ttl': '<> <urn:p> 1 .', '.lws/x.txt': 'x' });
    const state = await send(source, into.replace(/t\d+\/$/, ''), token);
    expect(state.status, state.failure).to.equal('done');
    const told = toldOf(state).join('\n');
    expect(told).to.match(/a\.json: The server rejected it \(400\)\. /);
    expect(told).to.match(/\.lws\/x\.txt: Its container .*\.lws\/ cannot be created: The server rejected it \(4\d\d\)/);
    expect(state.created).to.equal(1);
  });

  it('fails before the first resource if the target or the token is not usable', async () => {
    const source = sourceWith({ 'a.txt': 'a' });
    expect((await send(source, fresh())).failure).to.match(/requires authentication: use --token FILE/);
    const stranger = fileWith('stranger', credential(ed25519Identity(), { aud: target.root.slice(0, -1) }));
    const refused = await send(source, fresh(), stranger);
    expect(refused.failure).to.match(/t\d+\/ cannot be created: The server rejected it \(40[34]\)/);
    const expired = fileWith('expired', credential(owner, { aud: target.root.slice(0, -1), claims: { exp: 1 } }));
    expect((await send(source, fresh(), expired)).failure).to.match(/rejects the token/);
    const port = await freePort();
    expect((await send(source, `http://localhost:${port}/a/`, token)).failure).to.match(
      new RegExp(`^http://localhost:${port} does not respond: .* --on-conflict skip to continue`),
    );
    expect(await messageOf(send(source, 'http://storage.example/a/', token))).to.match(
      /is not sent over unencrypted http to storage/,
    );
    const empty = fileWith('empty', 'two words');
    expect(await messageOf(send(source, fresh(), empty))).to.match(/contains no bearer token/);
    expect(await messageOf(send(source, fresh(), `${empty}-gone`))).to.match(/is not readable \(ENOENT\)/);
    for (const to of [
      'https://storage.example/a',
      'ftp://storage.example/',
      'a/',
      'https://u:p@storage.example/',
      'https://storage.example/?a/',
    ])
      expect(() => targetOf({ to }), to).to.throw('--to must be the URL of a container, with a trailing slash');
    const to = 'https://storage.example/';
    expect(() => targetOf({ to, resume: 'true' })).to.throw('--on-conflict skip to continue');
    expect(() => targetOf({ to, into: 'a/' })).to.throw('--into is one of this storage');
    expect(() => targetOf({ to, key: 'file' })).to.throw('--token FILE');
  });
});

describe('Import into a server of another implementation', () => {
  let server: Server;
  let root: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  const seen: string[] = [];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-send-'));
    server = createServer((req, res) => {
      seen.push(`${req.method} ${req.url} ${req.headers.authorization ?? ''}`);
      req.resume().on('end', () => answer(req, res));
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    root = `http://127.0.0.1:${port}/`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    seen.length = 0;
  });

  const end = (res: ServerResponse, status: number, headers = {}, body = ''): void =>
    void res.writeHead(status, headers).end(body);

  it('retries if the server is busy, and reads the token again if it is rejected', async () => {
    const token = fileWith('token', 'first');
    const statuses = [503, 429, 401, 201];
    answer = (req, res) => {
      if (req.method === 'HEAD') return end(res, 200);
      const status = statuses.shift()!;
      if (status === 401) writeFileSync(token, 'second');
      end(res, status, { 'Retry-After': '0' });
    };
    expect(await send(sourceWith({ 'a.txt': 'a' }), root, token)).to.include({ status: 'done', created: 1 });
    const put = 'PUT /a.txt Bearer';
    expect(seen).to.deep.equal([
      'HEAD / Bearer first',
      `${put} first`,
      `${put} first`,
      `${put} first`,
      `${put} second`,
    ]);
  });

  it('sends a large content once, without a retry', async () => {
    answer = (req, res) => end(res, req.method === 'HEAD' ? (req.url === '/' ? 200 : 404) : 412);
    const source = sourceWith({ 'large.bin': new Uint8Array((1 << 20) + 1) });
    const state = await send(source, root, undefined, { conflict: 'replace' });
    expect(state).to.include({ status: 'done', replaced: 0, leftOut: 1 });
    expect(seen.filter((line) => line.startsWith('PUT'))).to.deep.equal(['PUT /large.bin ']);
  });

  it('follows no redirect, so that the token reaches no other server', async () => {
    answer = (_req, res) => end(res, 307, { Location: `${root}elsewhere/` });
    const state = await send(sourceWith({ 'a.txt': 'a' }), root, fileWith('token', 'secret'));
    expect(state.failure).to.equal(`${root} has moved: the server redirects to ${root}elsewhere/.`);
    expect(seen).to.deep.equal(['HEAD / Bearer secret']);
  });

  it('stops at a server error, removes control characters from messages, and reports unconfirmed links', async () => {
    answer = (req, res) => {
      if (req.method === 'HEAD') end(res, 200);
      else if (req.url === '/a.txt') end(res, 422, {}, `\u001b[31mred\u0007 ${'x'.repeat(100_000)}`);
      else end(res, req.url === '/c.txt' ? 500 : 201, {}, '');
    };
    const index = { quadpod: 1, files: { 'b.txt': { links: { type: [{ href: 'urn:T' }] } } } };
    const source = sourceWith({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', '.quadpod.json': JSON.stringify(index) });
    const state = await send(source, root);
    expect(state.failure).to.match(/c\.txt: the server failed \(500\)\. .*--on-conflict skip to continue/);
    expect(state.created).to.equal(1);
    const told = toldOf(state).sort();
    expect(told[0])
      .to.match(/^a\.txt: The server rejected it \(422\)\. \[31mred +x{100,}$/)
      .and.to.have.length.below(400);
    expect(told[1]).to.match(/^b\.txt: 1 links: the server does not confirm that it stored them/);
  });
});
