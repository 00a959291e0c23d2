/** A storage with its contents in an S3 store, as seen by clients and operators. */

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { runBackup } from '../../support/backups.js';
import { type Answer, type RequestOptions, request } from '../../support/http.js';
import { SpecS3 } from '../../support/s3-server.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';
import { until } from '../../support/until.js';

const binary = { 'Content-Type': 'application/octet-stream' };
const json = { 'Content-Type': 'application/json' };
const mebibyte = 1 << 20;

describe('A storage with its contents in S3', () => {
  let s3: SpecS3;
  let server: SpecServer;
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-s3-storage-'));
  const large = randomBytes(2 * mebibyte);
  before(async () => {
    s3 = await SpecS3.start();
    server = await startSpecServer({ settings: s3.settings('one') });
  });
  after(async () => {
    await s3.up();
    await server.stop();
    await s3.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  const send = (path: string, { headers = {}, ...options }: RequestOptions = {}): Promise<Answer> =>
    request(server.root + path, {
      ...options,
      headers: { Authorization: `Bearer ${server.ownerToken}`, ...headers },
    });
  const blobs = (): string[] => s3.keys('one/blobs/');
  const faults = async (): Promise<readonly string[]> =>
    (await checkStore(server.server.store, { content: true })).faults;

  it('stores, changes, reads and deletes JSON and binary resources', async () => {
    expect((await send('a.json', { method: 'PUT', headers: json, body: '{"a":1}' })).status).to.equal(201);
    expect((await send('b.bin', { method: 'PUT', headers: binary, body: large })).status).to.equal(201);
    expect((await send('gone.bin', { method: 'PUT', headers: binary, body: 'gone' })).status).to.equal(201);
    const patch = { 'Content-Type': 'application/merge-patch+json' };
    expect((await send('a.json', { method: 'PATCH', headers: patch, body: '{"b":2}' })).status).to.equal(204);
    expect((await send('gone.bin', { method: 'DELETE' })).status).to.equal(204);
    expect(JSON.parse((await send('a.json')).text)).to.deep.equal({ a: 1, b: 2 });
    expect((await send('b.bin')).bytes.equals(large)).to.equal(true);
    const part = await send('b.bin', { headers: { Range: 'bytes=1000000-1000009' } });
    expect([part.status, part.bytes.equals(large.subarray(1_000_000, 1_000_010))]).to.deep.equal([206, true]);
    await until(() => blobs().length === 2 && s3.keys('one/pending/').length === 0);
    expect(existsSync(join(server.dataDir, 'blobs'))).to.equal(false);
    expect(await faults()).to.deep.equal([]);
  });

  it('leaves nothing of an upload that is refused', async () => {
    const digest = createHash('sha256').update('other').digest('base64');
    const headers = { ...binary, 'Content-Digest': `sha-256=:${digest}:` };
    expect((await send('c.bin', { method: 'PUT', headers, body: large })).status).to.equal(400);
    expect(
      (await send('b.bin', { method: 'PUT', headers: { ...binary, 'If-None-Match': '*' }, body: 'x' })).status,
    ).to.equal(412);
    await until(() => blobs().length === 2 && s3.keys('one/pending/').length === 0);
  });

  it('returns 503 while the store is unavailable, and recovers', async () => {
    await s3.down();
    const refused = await send('d.bin', { method: 'PUT', headers: binary, body: 'late' });
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(refused.text).not.to.contain('127.0.0.1');
    expect((await send('b.bin')).status).to.equal(503);
    expect((await send('.lws/health/ready')).status).to.equal(503);
    expect((await send('')).status, 'what needs no content').to.equal(200);
    await s3.up();
    expect((await send('d.bin', { method: 'PUT', headers: binary, body: 'late' })).status).to.equal(201);
    expect((await send('d.bin')).text).to.equal('late');
    expect((await send('d.bin', { method: 'DELETE' })).status).to.equal(204);
    await until(() => blobs().length === 2);
  });

  it('reports missing blobs and unreferenced ones', async () => {
    const [first] = blobs();
    renameSync(s3.file(first!), join(folder, 'kept'));
    expect((await faults()).join()).to.match(/^The content of \S+ is missing \(blob [0-9a-f-]+\)\.$/);
    renameSync(join(folder, 'kept'), s3.file(first!));
    const stray = s3.file('one/blobs/stray');
    writeFileSync(stray, 'x');
    expect(await faults()).to.deep.equal(['The blob file stray belongs to no resource.']);
    rmSync(stray);
  });

  it('is available after a restart, and then sweeps the remains of a crash', async () => {
    const store = server.server.store.blobs;
    for (let i = 0; i < 3; i++) {
      const lost = await store.create();
      await lost.write(Buffer.from('lost'));
      await lost.finish();
    }
    await server.stop(true);
    s3.backdate(25);
    server = await startSpecServer({ settings: s3.settings('one'), again: server });
    await until(() => blobs().length === 2 && s3.keys('one/pending/').length === 0);
    expect((await send('b.bin')).bytes.equals(large)).to.equal(true);
    expect(await faults()).to.deep.equal([]);
  });

  it('accepts a body of 64 MiB in little memory', async () => {
    const chunk = randomBytes(mebibyte);
    const before = process.memoryUsage().rss;
    let peak = before;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 10);
    const answer = await send('e.bin', { method: 'PUT', headers: binary, body: Array(64).fill(chunk) });
    clearInterval(timer);
    expect(answer.status).to.equal(201);
    expect((peak - before) >> 20, 'MiB').to.be.below(200);
    expect(s3.uploads()).to.deep.equal([]);
    const end = await send('e.bin', { headers: { Range: 'bytes=-1048576' } });
    expect(end.bytes.equals(chunk)).to.equal(true);
    expect((await send('e.bin', { method: 'DELETE' })).status).to.equal(204);
  });

  it('is exported and imported by worker threads', async () => {
    const archive = await send('.lws/export');
    expect(archive.status).to.equal(200);
    const begun = await send(`.lws/import?into=${server.root}copy/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/zip' },
      body: archive.bytes,
    });
    expect(begun.status, begun.text).to.equal(202);
    const lines = await request(begun.headers['location']!, {
      headers: { Authorization: `Bearer ${server.ownerToken}`, Accept: 'application/x-ndjson' },
    });
    expect(JSON.parse(lines.text.trim().split('\n').at(-1)!)).to.include({ status: 'done' });
    expect((await send('copy/b.bin')).bytes.equals(large)).to.equal(true);
    await until(() => blobs().length === 4 && s3.keys('one/pending/').length === 0);
    expect(await faults()).to.deep.equal([]);
    for (const name of ['copy/a.json', 'copy/b.bin']) await send(name, { method: 'DELETE' });
    await until(() => blobs().length === 2);
  });

  it('is backed up while the server is running, and restored to a directory and to another prefix', async () => {
    /** Runs a command. @returns its last line */
    const run = async (command: 'backup' | 'restore', name: string, prefix?: string): Promise<string> => {
      const dataDir = name === '' ? server.dataDir : join(folder, name);
      const settings = prefix === undefined ? {} : s3.settings(prefix);
      return (await runBackup(command, { folder: join(folder, 'backup'), dataDir, root: server.root, settings })).at(
        -1,
      )!;
    };
    expect(await run('backup', '', 'one')).to.match(/ 2 blobs \(2 new\)/);
    expect(await run('backup', '', 'one')).to.match(/ 2 blobs \(0 new\)/);
    expect(await run('restore', 'two')).to.equal('2 blobs in blobs/');
    const taken = 's3://spec-bucket/one/ contains blobs. Choose another lws.blobs.';
    for (let i = 0; i < 2; i++) expect(await run('restore', 'three', 'one')).to.equal(taken);
    expect(await run('restore', 'three', 'three')).to.equal('2 blobs in s3://spec-bucket/three/');
    expect(s3.keys('three/').length, 'two blobs, no marks, and whose they are').to.equal(3);
  });

  it('does not start without its contents', async () => {
    const elsewhere = startSpecServer({
      settings: s3.settings('none'),
      again: { ...server, dataDir: join(folder, 'two') },
    });
    const failure = await elsewhere.then(
      () => expect.fail('It started.'),
      (error: Error) => error,
    );
    expect(failure.message).to.match(/s3:\/\/spec-bucket\/none\/ \(lws\.blobs\) has none/);
    expect(s3.keys('none/')).to.deep.equal([]);
  });
});
