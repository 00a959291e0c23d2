/**
 * After a failed batch, the storage accepts writes again by itself. Uncertain writes are visible to all callers or to none, and
 * concurrent reads get a response. The spec must not know the operations on LevelDB.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { newRevision } from '../../lib/storage/keys/records.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { isSharedRun } from '../support/shared-storage.js';
import { until } from '../support/until.js';
import { type DiskStore, diskStore, failNextBatch, root, stayFull } from './failing-level.js';

const codeOf = ({ code }: { code: string }): string => code;

describe('A storage after a failed batch', function () {
  this.timeout(60_000);
  let server: SpecServer;
  let folder: string;
  let probes = 0;
  before(async function () {
    // In a shared storage, the journal has batches that the copy of a server lacks: `spec/components/shared-storage` tests that.
    if (isSharedRun) return this.skip();
    server = await startSpecServer({ settings: { 'dev.open': 'true', 'sparql.endpoint.max-concurrent': '1' } });
    folder = `${server.root}folder/`;
    await fetch(folder, { method: 'PUT' });
  });
  after(() => server?.stop());

  const contents = [
    ['text/turtle', '<#a> <urn:b> "text" .'],
    ['application/json', '{"a": 1}'],
    ['text/plain', 'a'.repeat(1000)],
  ] as const;
  const put = (name: string, kind: number): Promise<Response> => {
    const [type, body] = contents[kind]!;
    return fetch(folder + name, { method: 'PUT', headers: { 'Content-Type': type }, body });
  };
  const query = (text: string): Promise<Response> =>
    fetch(`${server.root}.lws/sparql?query=${encodeURIComponent(text)}`);
  const count = async (): Promise<number> => {
    const response = await query('SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s <urn:b> ?o } }');
    expect(response.status).to.equal(200);
    const { results } = (await response.json()) as { results: { bindings: { n: { value: string } }[] } };
    return Number(results.bindings[0]!.n.value);
  };
  const members = async (): Promise<string[]> => {
    const { items } = (await (await fetch(folder)).json()) as { items: { id: string }[] };
    return items.map(({ id }) => id.slice(folder.length)).filter((name) => !name.startsWith('probe'));
  };

  /** Writes until a write is accepted. */
  async function recovered(): Promise<void> {
    await until(async () => {
      const { status } = await put(`probe${++probes}`, 1);
      if (status >= 300) expect(status).to.equal(507);
      return status < 300;
    });
  }

  async function expectInOrder(): Promise<void> {
    expect((await checkStore(server.server.store, { content: true })).faults).to.deep.equal([]);
    // A mark is removed after the response.
    await until(() => marks().length === 0);
    expect(marks()).to.deep.equal([]);
  }
  const marks = (): string[] => readdirSync(join(server.dataDir, 'blobs/tmp'));

  it('accepts writes again without a restart, and has no lost write', async () => {
    for (const kind of contents.keys()) expect((await put(`kept${kind}`, kind)).status).to.equal(201);
    expect(await count()).to.equal(1);
    void failNextBatch(server.server.store.level);
    const lost = await Promise.all(Array.from({ length: 30 }, (_, at) => put(`lost${at}`, at % 3)));
    // On a busy machine some arrive when it already accepts writes again.
    const late = [...lost.keys()].filter((at) => lost[at]!.status !== 507);
    expect(late.length).to.be.below(lost.length);
    for (const at of late) expect(lost[at]!.status).to.equal(201);
    const there = ['kept0', 'kept1', 'kept2', ...late.map((at) => `lost${at}`)];
    expect(await members()).to.have.members(there);
    await recovered();
    expect(await members()).to.have.members(there);
    for (const kind of contents.keys()) expect((await put(`new${kind}`, kind)).status).to.equal(201);
    expect(await count()).to.equal(2 + late.filter((at) => at % 3 === 0).length);
    await expectInOrder();
    expect(server.log.map(({ msg }) => msg)).to.include(
      'The storage accepts writes again. The write in doubt was not stored.',
    );
  });

  it('shows writes that had reached the disk', async () => {
    void failNextBatch(server.server.store.level, { afterWriting: true });
    const before = await members();
    const created = await Promise.all(contents.map((_, kind) => put(`doubted${kind}`, kind)));
    expect(created.map(({ status }) => status)).to.deep.equal([507, 507, 507]);
    expect(await members()).to.deep.equal(before);
    await recovered();
    const now = await members();
    // Transactions of the same batch are present, complete. Those queued after it are not.
    const stored = [0, 1, 2].filter((kind) => now.includes(`doubted${kind}`));
    expect(stored.length).to.be.above(0);
    for (const kind of stored) {
      const response = await fetch(`${folder}doubted${kind}`);
      expect(response.status).to.equal(200);
      expect(await response.text()).to.include(['urn:b', '{"a": 1}', 'aaa'][kind]);
    }
    await expectInOrder();
  });

  it('answers concurrent reads, completely or with 503', async () => {
    void failNextBatch(server.server.store.level);
    await put('lost', 0);
    let isOver = false;
    const statuses = new Set<number>();
    const read = async (ask: () => Promise<Response>): Promise<void> => {
      while (!isOver) {
        const response = await ask();
        await response.arrayBuffer();
        statuses.add(response.status);
      }
    };
    const readers = [
      read(() => fetch(folder)),
      read(() => fetch(`${folder}kept0`, { headers: { Accept: 'application/n-triples' } })),
      read(() => query('SELECT * { GRAPH ?g { ?s ?p ?o } }')),
      read(() => fetch(`${server.root}.lws/types`)),
    ];
    await recovered();
    isOver = true;
    await Promise.all(readers);
    statuses.delete(503);
    expect([...statuses].filter((status) => status !== 200 && status !== 404)).to.deep.equal([]);
    expect(server.log.filter(({ level }) => Number(level) >= 50).map(({ msg }) => String(msg))).to.satisfy(
      (all: string[]) => all.every((msg) => msg.startsWith('The disk rejected a write')),
    );
  });
});

describe('A store after a failed batch', () => {
  let disk: DiskStore;
  beforeEach(async () => {
    disk = await diskStore();
  });
  afterEach(() => disk.dispose());

  it('retries while the disk is full, and stops when it is closed', async function () {
    this.timeout(10_000);
    const goOn = stayFull(disk.store);
    void failNextBatch(disk.store.level);
    const write = (): Promise<string> =>
      disk.store
        .transact((tx) => tx.putRecord({ ...tx.record(root)!, revision: newRevision() }))
        .then(() => 'written', codeOf);
    expect(await write()).to.equal('storage-full');
    await sleep(1200);
    expect(await write()).to.equal('storage-full');
    goOn();
    await until(async () => (await write()) === 'written');
    expect(await write()).to.equal('written');
    void failNextBatch(disk.store.level);
    expect(await write()).to.equal('storage-full');
  });

  for (const afterWriting of [false, true])
    it(`reports once the outcome of ${afterWriting ? 'a batch that had reached the disk' : 'what did not reach the disk'}`, async function () {
      this.timeout(10_000);
      const { store } = disk;
      const told: string[] = [];
      const names = ({ entries }: { entries: ReadonlyMap<string, unknown> }): string => [...entries.keys()].join();
      store.onStage((tx) => told.push(`staged ${names(tx)}`));
      store.onCommit((tx) => told.push(`committed ${names(tx)}`));
      store.onDrop((tx) => told.push(`dropped ${names(tx)}`));
      const put = (name: string): Promise<void> => store.transact((tx) => tx.putEntry(name, 'value'));
      void failNextBatch(store.level, { afterWriting });
      expect(await put('Edoubted').then(String, codeOf)).to.equal('storage-full');
      await until(() => told.length >= 2);
      await put('Elater');
      const fate = afterWriting ? 'committed' : 'dropped';
      expect(told).to.deep.equal(['staged Edoubted', `${fate} Edoubted`, 'staged Elater', 'committed Elater']);
      expect(store.entry('Edoubted')).to.equal(afterWriting ? 'value' : undefined);
    });
});
