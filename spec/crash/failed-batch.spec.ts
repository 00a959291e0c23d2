/**
 * A batch that LevelDB could not write: all its waiting transactions fail, nothing is written after it while the disk is full,
 * and the next start finds everything in order. The spec must not know how batches are grouped.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { newRevision, type ResourceRecord } from '../../lib/storage/keys/records.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../lib/tools/errors.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { type DiskStore, diskStore, failNextBatch, root, stayFull } from './failing-level.js';

const codeOf = (error: unknown): string => (error instanceof LwsError ? error.code : String(error));

describe('A failed batch, over HTTP', () => {
  const settings = { 'dev.open': 'true' };
  let server: SpecServer;
  let folder: string;
  before(async function () {
    // In a shared storage, the journal has batches that the copy of a server lacks: `spec/components/shared-storage` tests that.
    if (isSharedRun) return this.skip();
    server = await startSpecServer({ settings });
    folder = `${server.root}folder/`;
    await fetch(folder, { method: 'PUT' });
  });
  after(() => server?.stop());

  type Sent = readonly [type: string, body: string];
  const contents: readonly Sent[] = [
    ['text/turtle', '<#a> <urn:b> 1 .'],
    ['application/json', '{"a": 1}'],
    ['text/plain', 'a'.repeat(1000)],
  ];
  const put = (name: string, [type, body]: Sent, fields: Record<string, string> = {}): Promise<Response> =>
    fetch(folder + name, { method: 'PUT', headers: { 'Content-Type': type, ...fields }, body });

  async function restart(): Promise<void> {
    await server.stop(true);
    server = await startSpecServer({ settings, again: server });
    if (!isSharedRun) expect(readdirSync(join(server.dataDir, 'blobs/tmp'))).to.deep.equal([]);
    expect((await checkStore(server.server.store, { content: true })).faults).to.deep.equal([]);
  }

  async function expectStorageFull(response: Response): Promise<void> {
    const problem = (await response.json()) as Record<string, unknown>;
    expect(response.status, JSON.stringify(problem)).to.equal(507);
    expect(response.headers.get('Content-Type')).to.equal('application/problem+json');
    expect(problem['type']).to.equal('urn:problem-type:quadpod:storage-full');
    expect(problem['detail']).to.match(
      /no disk space .* Nothing was stored|in doubt until the storage accepts writes again/,
    );
  }

  async function expectKept(): Promise<void> {
    for (const [i, [type, body]] of contents.entries()) {
      const response = await fetch(`${folder}kept${i}`);
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include(type === 'text/turtle' ? '<urn:b> 1' : body);
    }
    const listing = (await (await fetch(folder)).json()) as { items: { id: string }[]; totalItems: number };
    expect(listing.items.map(({ id }) => id.slice(folder.length))).to.deep.equal(['kept0', 'kept1', 'kept2']);
    expect(listing.totalItems).to.equal(3);
  }

  it('rejects all its transactions with 507', async () => {
    for (const [i, content] of contents.entries()) expect((await put(`kept${i}`, content)).status).to.equal(201);
    stayFull(server.server.store);
    void failNextBatch(server.server.store.level);
    const many = Array.from({ length: 30 }, (_, i) => put(`lost${i}`, contents[i % 3]!));
    for (const response of await Promise.all(many)) await expectStorageFull(response);
  });

  it('rejects every later write and logs it', async () => {
    for (const content of contents) await expectStorageFull(await put('later', content));
    await expectStorageFull(await fetch(`${folder}kept0`, { method: 'DELETE' }));
    const errors = server.log.filter(({ level }) => Number(level) >= 50).map(({ msg }) => msg);
    expect(errors[0]).to.equal(
      'The disk rejected a write. The storage is read-only until the disk accepts writes again.',
    );
  });

  it('continues reads', expectKept);

  it('leaves a consistent and writable storage after a restart', async () => {
    await restart();
    await expectKept();
    for (const [i, content] of contents.entries()) expect((await put(`new${i}`, content)).status).to.equal(201);
  });

  it('leaves no dangling reference if the batch had reached the disk', async () => {
    stayFull(server.server.store);
    void failNextBatch(server.server.store.level, { afterWriting: true });
    await expectStorageFull(await put('created', contents[1]!));
    await restart();
  });

  it('keeps the content of a copy if its batch had reached the disk', async () => {
    await put('source', contents[1]!);
    void failNextBatch(server.server.store.level, { afterWriting: true });
    const fields = { Destination: `${folder}copy`, Overwrite: 'F' };
    await expectStorageFull(await fetch(`${folder}source`, { method: 'COPY', headers: fields }));
    await restart();
    expect(await (await fetch(`${folder}copy`)).text()).to.equal('{"a": 1}');
  });

  it('keeps a content, old or new, if the replacing batch had reached the disk', async () => {
    const [, json] = contents;
    const tag = (await put('replaced', json!)).headers.get('ETag')!;
    void failNextBatch(server.server.store.level, { afterWriting: true });
    const replacing = put('replaced', ['application/json', '{"a": 2}'], { 'If-Match': tag });
    await expectStorageFull(await replacing);
    await restart();
    const response = await fetch(`${folder}replaced`);
    expect(response.status).to.equal(200);
    expect(await response.text()).to.be.oneOf(['{"a": 1}', '{"a": 2}']);
  });
});

describe('A failed batch, in the store', () => {
  let disk: DiskStore;
  beforeEach(async () => {
    disk = await diskStore();
  });
  afterEach(() => disk.dispose());

  /** Stages a member of the root, like the operations. */
  function stage(tx: Transaction, name: string, more: Partial<ResourceRecord> = {}): void {
    const times = { created: 1, modified: 1 };
    const member = { kind: 'rdf', mediaType: 'text/turtle', size: 0, triples: 0, revision: newRevision() } as const;
    tx.putRecord({ iri: root + name, ...member, ...times, ...more });
    const parent = tx.record(root)!;
    tx.putRecord({ ...parent, revision: newRevision(), members: (parent.members ?? 0) + 1 });
  }

  async function expectInOrderAfterRestart(...names: string[]): Promise<void> {
    disk = await disk.reopen();
    expect((await checkStore(disk.store, { content: true })).faults).to.deep.equal([]);
    const members: string[] = [];
    for await (const records of disk.store.members(root)) for (const { iri } of records) members.push(iri);
    expect(members).to.deep.equal(names.map((name) => root + name));
  }

  it('rejects a transaction that runs while the previous batch fails', async () => {
    await disk.store.transact((tx) => stage(tx, 'kept'));
    let fail!: () => void;
    let goOn!: () => void;
    const reached = failNextBatch(disk.store.level, { when: new Promise((resolve) => (fail = resolve)) });
    const first = disk.store.transact((tx) => stage(tx, 'first')).catch(codeOf);
    await reached;
    const second = disk.store
      .transact(async (tx) => {
        stage(tx, 'second');
        await new Promise<void>((resolve) => (goOn = resolve));
      })
      .then(() => 'acknowledged', codeOf);
    await new Promise((resolve) => setTimeout(resolve, 20));
    fail();
    expect(await first).to.equal('storage-full');
    goOn();
    expect(await second).to.equal('storage-full');
    await expectInOrderAfterRestart('kept');
  });

  it('rejects a read-only transaction that saw lost writes of the batch', async () => {
    let fail!: () => void;
    const reached = failNextBatch(disk.store.level, { when: new Promise((resolve) => (fail = resolve)) });
    const first = disk.store.transact((tx) => stage(tx, 'first')).catch(codeOf);
    await reached;
    const reader = disk.store.transact((tx) => tx.record(`${root}first`)?.iri).catch(codeOf);
    await new Promise((resolve) => setTimeout(resolve, 20));
    fail();
    expect(await Promise.all([first, reader])).to.deep.equal(['storage-full', 'storage-full']);
  });
});
