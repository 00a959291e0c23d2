/** Backups of a running server under load: verified, restored, restored at another address, and rejected if damaged. */

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Ended, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { until } from '../support/until.js';

const turtle = { 'Content-Type': 'text/turtle' };

describe('Back-ups', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-backup-'));
  after(async () => {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  let count = 0;
  const fresh = (): string => join(folder, String(++count));
  let server: ServerProcess;
  let backup: string;

  /** Signed by the generated owner, with the key in the backup. */
  let authorization: Record<string, string>;
  const get = (iri: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(iri, { headers: { ...authorization, ...headers } });
  const put = (path: string, body: string | Uint8Array, headers: Record<string, string> = turtle): Promise<Response> =>
    fetch(server.root + path, { method: 'PUT', headers: { ...authorization, ...headers }, body: body as never });
  const environment = { LWS_DEV_OPEN: 'false' };
  const run = (words: readonly string[], dataDir: string, root = server.root): Promise<Ended> =>
    runProcess(words, { dataDir, root, environment });
  const authorized = ({ output }: ServerProcess): Record<string, string> => ({
    Authorization: `Bearer ${/TOKEN='?([\w.-]+)/.exec(output.stderr)![1]}`,
  });

  before(async () => {
    server = await startProcess({ environment });
    authorization = authorized(server);
    await put('c/', '', {});
    await put('c/a', `<> a <#C> ; <#see> <${server.root}c/b>, <b> ; <#says> "${server.root}c/b", 42 .`);
    await put('c/b.bin', Buffer.alloc(300_000, 7), { 'Content-Type': 'application/octet-stream' });
    await put('c/d.json', '{"a":1}', {
      'Content-Type': 'application/json',
      Prefer: 'set-linkset',
      Link: `<${server.root}c/a>; rel="describes"`,
    });
    backup = fresh();
  });

  /** Content of each resource, by path. */
  async function contents(root: string): Promise<Record<string, unknown>> {
    const found: Record<string, unknown> = {};
    for (const path of ['c/a', 'c/b.bin', 'c/d.json', 'c/d.json.meta']) {
      const answer = await get(root + path);
      const text = Buffer.from(await answer.arrayBuffer())
        .toString('latin1')
        .replaceAll(root, '/');
      found[path] = [answer.status, answer.headers.get('content-type'), answer.headers.get('etag'), text];
    }
    return found;
  }
  /** Contents of a directory, served at an address. */
  async function served(dataDir: string, root: string): Promise<Record<string, unknown>> {
    const restored = await startProcess({ dataDir, root, environment });
    try {
      return await contents(root);
    } finally {
      expect(await restored.stop()).to.equal(0);
    }
  }

  it('of a running server contain one state, independent of concurrent writes', async () => {
    let going = true;
    const writes = (async () => {
      for (let i = 0; going; i++) {
        // Both or, in the state of a backup, only the first.
        await put(`c/w${i}`, `<> <#n> ${i} .`);
        await fetch(`${server.root}c/w${i - 1}`, { method: 'DELETE', headers: authorization });
        await put('c/changing', Buffer.alloc(2_000 + (i % 100), i), {
          'Content-Type': 'application/octet-stream',
          'If-Match': '*',
        });
        if (i === 0) await put('c/changing', 'x', { 'Content-Type': 'application/octet-stream' });
      }
    })();
    const target = fresh();
    for (let i = 0; i < 2; i++) {
      const made = await run(['backup', target], server.dataDir);
      expect([made.code, made.stdout], made.stderr).to.satisfy(([code]: [number]) => code === 0);
      expect(made.stdout.includes(' that changed since ')).to.equal(i === 1);
    }
    going = false;
    await writes;
    const verified = await run(['verify', target], fresh());
    expect(verified.code, verified.stdout).to.equal(0);
    const restored = await run(['restore', target], fresh());
    expect(restored.stdout).to.match(/all in order\.\n$/);
    expect(restored.code).to.equal(0);
  });

  it('continue from parts that the client has, and from no forged ones', async () => {
    const begin = (headers: Record<string, string>, known: Uint8Array): Promise<Response> =>
      fetch(`${server.root}.lws/backups`, { method: 'POST', headers, body: known as never });
    expect((await begin({}, Buffer.alloc(100))).status).to.equal(401);
    for (const length of [5, 25]) {
      const begun = await begin(authorization, Buffer.alloc(length, 7));
      expect(begun.status).to.equal(201);
      const job = begun.headers.get('location')!;
      let told = { state: '', failure: '' };
      while (!/ready|failed/.test(told.state)) told = (await (await get(job)).json()) as typeof told;
      expect(told).to.deep.include({ state: 'failed', failure: 'The set of known graphs is truncated or invalid.' });
      expect((await get(`${job}/quads`)).status).to.equal(409);
      expect((await fetch(job, { method: 'DELETE', headers: authorization })).status).to.equal(204);
    }
    expect(existsSync(join(server.dataDir, 'backup'))).to.equal(false);
    // A client that disconnects during the transfer leaves nothing that blocks other clients.
    const headers = { ...authorization, 'Content-Length': '1000' };
    const broken = request(`${server.root}.lws/backups`, { method: 'POST', headers });
    broken.on('error', () => {});
    broken.write('some');
    await until(() => existsSync(join(server.dataDir, 'backup')));
    expect((await begin(authorization, Buffer.alloc(0))).status).to.equal(409);
    broken.destroy();
    let next = await begin(authorization, Buffer.alloc(0));
    while (next.status === 409) next = await begin(authorization, Buffer.alloc(0));
    expect(next.status).to.equal(201);
    await fetch(next.headers.get('location')!, { method: 'DELETE', headers: authorization });
  });

  it('are restored unchanged, including ETags and keys', async () => {
    const expected = await contents(server.root);
    expect((expected['c/d.json.meta'] as string[])[3]).to.contain('describes');
    expect((await run(['backup', backup], server.dataDir)).code).to.equal(0);
    await server.stop();
    const target = fresh();
    const { code, stdout } = await run(['restore', backup], target);
    expect([code, stdout.split('\n').at(-2)]).to.deep.equal([0, stdout.split('\n').at(-2)]);
    expect(await served(target, server.root)).to.deep.equal(expected);
    expect(readFileSync(join(target, 'webhook.key'))).to.deep.equal(readFileSync(join(server.dataDir, 'webhook.key')));
  });

  it('of a stopped server are identical, and copy no blob twice', async () => {
    const again = await run(['backup', backup], server.dataDir);
    expect(again.stdout).to.match(/blobs \(0 new\)/);
    expect(readdirSync(backup).filter((name) => name.startsWith('state-'))).to.have.length(1);
    expect((await run(['verify', backup], fresh())).code).to.equal(0);
  });

  it('are restored at another address, with every IRI rewritten and no text changed', async () => {
    const old = server.root;
    const target = fresh();
    const root = `http://localhost:${await freePort()}/moved/`;
    const refused = await run(['restore', backup], target, root);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.contain(`--rewrite ${old}=${root}`);
    expect(existsSync(target)).to.equal(false);
    const moved = await run(['restore', backup, '--rewrite', `${old}=${root}`], target, root);
    expect(moved.stdout, moved.stderr).to.match(/all in order\.\n$/);
    const restored = await startProcess({ dataDir: target, root, environment });
    authorization = authorized(restored);
    const text = await (await get(`${root}c/a`, { Accept: 'application/n-triples' })).text();
    expect(text).to.contain(`<${root}c/a#see> <${root}c/b>`).and.contain(`"${old}c/b"`);
    expect(text.replaceAll(`"${old}c/b"`, '')).not.to.contain(old);
    expect(await (await get(`${root}c/d.json.meta`)).text())
      .to.contain(`${root}c/a`)
      .and.not.contain(old);
    const size = Buffer.byteLength(await (await get(`${root}c/a`)).text());
    expect(await (await get(`${root}c/`)).text())
      .to.contain(`"size":${size}`)
      .and.not.contain(old);
    const index = await (await get(`${root}.lws/type-search?type=${encodeURIComponent(`${root}c/a#C`)}`)).text();
    expect(index).to.contain(`"${root}c/a"`);
    expect(await restored.stop()).to.equal(0);
    const started = await run([], server.dataDir, root);
    expect(started.code).to.equal(2);
    expect(started.stderr).to.contain(`quadpod restore DIR --rewrite ${old}=${root}`);
  });

  it('are not written to a nonempty folder or into the storage itself', async () => {
    const target = fresh();
    expect((await run(['restore', backup], target)).code).to.equal(0);
    const again = await run(['restore', backup], target);
    expect([again.code, again.stderr]).to.satisfy(([, text]: [number, string]) => /is not empty/.test(text));
    expect(again.code).to.equal(2);
    const inside = await run(['backup', join(server.dataDir, 'b')], server.dataDir);
    expect([inside.code, existsSync(join(server.dataDir, 'b'))]).to.deep.equal([2, false]);
    const nowhere = await run(['backup', fresh()], fresh());
    expect(nowhere.stderr).to.match(/^quadpod: [^\n]* contains no storage[^\n]*\n$/);
    expect((await run(['backup'], server.dataDir)).stderr).to.contain('quadpod backup DIR');
  });

  it('can be restored again after an interrupted restore, and is not a storage until the restore completes', async () => {
    const target = fresh();
    const blob = blobsOf(backup)[0]!;
    const bytes = readFileSync(blob);
    rmSync(blob);
    const broken = await run(['restore', backup], target);
    writeFileSync(blob, bytes);
    expect(broken.code).to.equal(2);
    expect(broken.stderr).to.contain('lacks the blob');
    const started = await run([], target);
    expect([started.code, started.stderr]).to.satisfy(([, text]: [number, string]) => /restore/.test(text));
    expect((await run(['restore', backup], target)).code).to.equal(0);
  });

  const blobsOf = (dir: string): string[] =>
    readdirSync(join(dir, 'blobs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /^..[/\\]/.test(name))
      .map((name) => join(dir, 'blobs', name));

  it('are rejected by verify and restore if damaged', async () => {
    const state = join(backup, readdirSync(backup).find((name) => name.startsWith('state-'))!);
    const whole = readFileSync(state);
    for (const damage of [
      () => truncateSync(state, whole.length - 20),
      () => appendFileSync(state, 'x'),
      () => writeFileSync(state, 'no state'),
      () => rmSync(state),
    ]) {
      damage();
      const { code, stdout } = await run(['verify', backup], fresh());
      expect(code, stdout).to.equal(3);
      expect((await run(['restore', backup], fresh())).code).to.equal(2);
      writeFileSync(state, whole);
    }
    const blob = blobsOf(backup)[0]!;
    const bytes = readFileSync(blob);
    writeFileSync(blob, Buffer.from(bytes).fill(1, 0, 1));
    const { code, stdout } = await run(['verify', backup], fresh());
    expect(code).to.equal(3);
    expect(stdout).to.match(/has another digest/);
    writeFileSync(blob, bytes);
    expect((await run(['verify', backup], fresh())).code).to.equal(0);
    expect((await run(['verify', fresh()], fresh())).code).to.equal(2);
  });
});
