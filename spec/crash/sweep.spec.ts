/**
 * Leftovers of a crash in the blob directory, and their cleanup at the next start. The spec knows the layout on disk. It must not
 * know HTTP, except for the upload interrupted by a kill.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { blobFacts, blobKey, garbageKey, newRevision } from '../../lib/storage/keys/records.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { runProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { type DiskStore, diskStore, root } from './failing-level.js';

describe('Cleanup at a start', () => {
  let disk: DiskStore;
  beforeEach(async () => {
    disk = await diskStore();
  });
  afterEach(() => disk.dispose());

  const place = (blob: string): string => join(disk.folder, 'blobs', blob.slice(0, 2), blob);
  const mark = (blob: string): string => join(disk.folder, 'blobs/tmp', blob);
  const marks = (): string[] => readdirSync(join(disk.folder, 'blobs/tmp'));

  /** A blob at its final path, not committed. */
  async function upload(content: string): Promise<string> {
    const writer = await disk.store.blobs.create();
    await writer.write(Buffer.from(content));
    await writer.finish();
    return writer.blob;
  }

  /** Creates a resource with that content, like the operations. */
  async function commit(name: string, content: string): Promise<string> {
    const blob = await upload(content);
    const sha256 = createHash('sha256').update(content).digest('base64');
    await disk.store.transact((tx) => {
      const times = { created: 1, modified: 1, revision: newRevision() };
      const size = content.length;
      tx.putRecord({ iri: root + name, kind: 'binary', mediaType: 'text/plain', size, blob, sha256, ...times });
      const parent = tx.record(root)!;
      tx.putRecord({ ...parent, revision: newRevision(), members: (parent.members ?? 0) + 1 });
    });
    // The mark is deleted after the commit, in the background.
    await until(() => !existsSync(mark(blob)));
    return blob;
  }

  async function expectInOrder(): Promise<void> {
    expect((await checkStore(disk.store, { content: true })).faults).to.deep.equal([]);
    expect(marks()).to.deep.equal([]);
  }

  it('accepts a storage without blob folders, and folders of earlier versions', async () => {
    const folders = (): string[] => readdirSync(join(disk.folder, 'blobs')).sort();
    expect(folders()).to.deep.equal(['tmp']);
    const blobs = await Promise.all(['a', 'b', 'c'].map((name) => commit(name, name)));
    const used = [...new Set(blobs.map((blob) => blob.slice(0, 2)))];
    expect(folders()).to.deep.equal([...used, 'tmp'].sort());
    const other = used.includes('00') ? '01' : '00';
    mkdirSync(join(disk.folder, 'blobs', other));
    const stray = `${other}000000-0000-4000-8000-000000000000`;
    writeFileSync(place(stray), 'x');
    expect((await checkStore(disk.store)).faults.join()).to.match(new RegExp(stray));
    await disk.store.blobs.remove(stray);
    disk = await disk.reopen();
    await commit('d', 'd');
    await expectInOrder();
  });

  it('deletes an interrupted upload', async () => {
    writeFileSync(mark(randomUUID()), 'half of');
    disk = await disk.reopen();
    await expectInOrder();
  });

  it('deletes a finished upload that was not committed', async () => {
    const blob = await upload('whole');
    expect(existsSync(place(blob))).to.equal(true);
    disk = await disk.reopen();
    expect(existsSync(place(blob))).to.equal(false);
    await expectInOrder();
  });

  it('keeps a committed upload and deletes its mark', async () => {
    const blob = await commit('kept', 'content');
    linkSync(place(blob), mark(blob));
    disk = await disk.reopen();
    expect((await disk.store.blobs.bytes(blobFacts(disk.store.record(`${root}kept`)!))).toString()).to.equal('content');
    await expectInOrder();
  });

  it('deletes the blob of a replaced or deleted resource, and its record', async () => {
    const gone = await upload('old');
    unlinkSync(mark(gone));
    await disk.store.level.put(garbageKey(gone), '');
    disk = await disk.reopen();
    expect(existsSync(place(gone))).to.equal(false);
    expect(await disk.store.level.get(garbageKey(gone))).to.equal(undefined);
    await expectInOrder();
  });

  it('deletes a released blob that still has its mark', async () => {
    const gone = await upload('old');
    await disk.store.level.put(garbageKey(gone), '');
    disk = await disk.reopen();
    expect(existsSync(place(gone))).to.equal(false);
    await expectInOrder();
  });

  it('deletes the record of garbage without a file', async () => {
    const gone = randomUUID();
    await disk.store.level.put(garbageKey(gone), '');
    disk = await disk.reopen();
    expect(await disk.store.level.get(garbageKey(gone))).to.equal(undefined);
    await expectInOrder();
  });

  it('deletes more leftovers than fit one read, and nothing else', async () => {
    const kept = await Promise.all(['a', 'b', 'c'].map((name) => commit(name, name.repeat(100))));
    const left = Array.from({ length: 1200 }, () => randomUUID());
    for (const blob of left) writeFileSync(mark(blob), '');
    await disk.store.level.batch(left.map((blob) => ({ type: 'put', key: garbageKey(blob), value: '' }) as const));
    linkSync(place(kept[0]!), mark(kept[0]!));
    disk = await disk.reopen();
    for (const blob of kept) expect(await disk.store.level.get(blobKey(blob))).to.be.a('string');
    await expectInOrder();
  });

  it('leaves unreferenced blobs to be reported by check', async () => {
    const lost = await upload('who knows');
    unlinkSync(mark(lost));
    const report = async (): Promise<readonly string[]> => (await checkStore(disk.store)).faults;
    disk = await disk.reopen();
    expect(await report()).to.deep.equal([`The blob file ${lost} belongs to no resource.`]);
    unlinkSync(place(lost));
    const blob = await commit('damaged', 'content');
    unlinkSync(place(blob));
    expect(await report()).to.deep.equal([`The content of ${root}damaged is missing (blob ${blob}).`]);
  });
});

describe('An upload interrupted by a kill', function () {
  this.timeout(30_000);

  it('is deleted by the next start', async () => {
    let server = await startProcess();
    const uploads = (): string[] => readdirSync(join(server.dataDir, 'blobs/tmp'));
    try {
      const headers = { 'Content-Type': 'application/octet-stream', 'Content-Length': 10_000_000 };
      const upload = request(`${server.root}cut-off`, { method: 'PUT', headers });
      const broken = new Promise((resolve) => upload.once('error', resolve));
      upload.write(Buffer.alloc(2_000_000));
      await until(() => uploads().length > 0);
      await server.kill();
      await broken;
      expect(uploads()).to.have.length(1);
      server = await startProcess(server);
      expect(uploads()).to.deep.equal([]);
      expect((await fetch(`${server.root}cut-off`)).status).to.equal(404);
      await server.stop();
      expect((await runProcess(['check'], server)).stdout).to.match(/all in order/);
    } finally {
      await server.kill();
      rmSync(server.dataDir, { recursive: true, force: true });
    }
  });
});
