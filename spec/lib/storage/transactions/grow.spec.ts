/** A store that grows from one index to all, and back: consistent at all times under concurrent writes, and reported if damaged. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { ensureRoot } from '../../../../lib/resources/storage-root.js';
import { openStore } from '../../../../lib/server/storage/open-store.js';
import { IndexSet } from '../../../../lib/storage/keys/index-set.js';
import { encodeGraph, otherKeys } from '../../../../lib/storage/keys/quad-keys.js';
import { metaKey, newRevision, recordKey } from '../../../../lib/storage/keys/records.js';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import type { Store } from '../../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../../lib/storage/transactions/transaction.js';

const f = new DataFactory<Quad>();
const root = 'http://spec.example/';
const random = (below: number): number => Math.floor(Math.random() * below);

/** Names from the beginning to the end of the key order, and outside of the BMP, where UTF-16 order differs. */
const nameOf = (at: number): string => `${root}${['a', 'm', '\uff5e', '\u{10000}'][at % 4]}${at}`;
const graphOf = (iri: string, count: number, mark: number): string[] =>
  encodeGraph(
    iri,
    Array.from({ length: count }, (_, i) => f.quad(f.namedNode(iri), f.namedNode(`urn:p${i}`), f.literal(`${mark}`))),
  );

/** Writes an RDF resource to the root; 0 triples: deletes it. */
async function put(tx: Transaction, iri: string, count: number, mark = 0): Promise<void> {
  const before = tx.record(iri);
  const parent = tx.record(root)!;
  const keys = graphOf(iri, count, mark);
  const known = before ? await tx.before.graph(before) : [];
  if (count > 0) {
    tx.putGraph(iri, known, keys);
    tx.putRecord({
      ...{ iri, kind: 'rdf', mediaType: 'text/turtle', revision: newRevision(), size: count, triples: count },
      ...{ created: 1, modified: 1 },
    });
  } else if (before) {
    tx.deleteGraph(iri, known);
    tx.deleteRecord(before);
  }
  const members = (count > 0 ? 1 : 0) - (before ? 1 : 0);
  if (members !== 0) tx.putRecord({ ...parent, members: parent.members! + members });
}

describe('storage/growth', function () {
  this.timeout(60_000);
  let dataDir: string;
  let store: Store;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quadpod-grow-'));
    store = await openStore(dataDir, root, {});
    await ensureRoot(store, root, 1);
  });
  afterEach(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });

  /** Fills the store. */
  async function fill(graphs: number, count = 40): Promise<void> {
    for (let at = 0; at < graphs; at += 100)
      await store.transact(async (tx) => {
        for (let each = at; each < Math.min(graphs, at + 100); each++) await put(tx, nameOf(each), count);
      });
  }

  const faults = async (): Promise<readonly string[]> => (await checkStore(store)).faults;
  const indexes = (): number => JSON.parse(readFileSync(join(dataDir, 'quadstore.json'), 'utf8')).indexes.length;

  /** Writes, replaces and deletes concurrently. The store must be consistent at all times. */
  async function contend(work: Promise<unknown>): Promise<number> {
    let isDone = false;
    let checks = 0;
    void work.finally(() => {
      isDone = true;
    });
    const writers = Array.from({ length: 3 }, async () => {
      for (let mark = 1; !isDone; mark++)
        await store.transact((tx) => put(tx, nameOf(random(700)), random(3) === 0 ? 0 : 1 + random(60), mark));
    });
    const large = (async () => {
      const iri = `${root}large`;
      const keys = encodeGraph(
        iri,
        Array.from({ length: 6000 }, (_, i) => f.quad(f.namedNode(iri), f.namedNode('urn:p'), f.literal(`${i}`))),
      );
      while (!isDone) {
        expect(await store.loadGraph(iri, keys)).to.equal(true);
        store.dropLoaded(iri, keys);
        await sleep(20);
      }
    })();
    const checking = (async () => {
      while (!isDone) {
        expect(await faults()).to.deep.equal([]);
        checks++;
        await sleep(20);
      }
    })();
    await Promise.all([work, ...writers, large, checking]);
    expect(await faults()).to.deep.equal([]);
    return checks;
  }

  it('begins with one index', async () => {
    await fill(10);
    expect([store.kept.orders, store.kept.quads, indexes()]).to.deep.equal([IndexSet.one, 400, 1]);
    expect((await store.level.keys({ gte: 'SPOG', lt: 'SPOH' }).all()).length).to.equal(0);
    expect(await faults()).to.deep.equal([]);
  });

  it('grows at once if it is empty', async () => {
    await store.reorder(IndexSet.all);
    expect([store.kept.orders, indexes()]).to.deep.equal([IndexSet.all, 4]);
  });

  it('is consistent at all times while it grows or shrinks under writes, large graphs and deletions', async () => {
    await fill(700);
    expect(await contend(store.reorder(IndexSet.all))).to.be.above(0);
    expect([store.kept.orders.text, indexes()]).to.deep.equal(['all', 4]);
    expect(await contend(store.reorder(IndexSet.one))).to.be.above(0);
    expect([store.kept.orders.text, indexes()]).to.deep.equal(['one', 1]);
    expect((await store.level.keys({ gte: 'SPOG', lt: 'SPOH' }).all()).length).to.equal(0);
  });

  it('resumes an interrupted change', async () => {
    await fill(400);
    for (const wanted of [IndexSet.all, IndexSet.one]) {
      let times = 0;
      for (; store.kept.orders !== wanted; times++) {
        const { moved } = store.kept;
        void store.reorder(wanted);
        while (store.kept.moved === moved && store.kept.orders !== wanted) await sleep(1);
        await store.close();
        store = await openStore(dataDir, root, {});
        expect(await faults()).to.deep.equal([]);
      }
      expect(times).to.be.above(1);
    }
  });

  it('reports missing and extra quads of each index', async () => {
    await fill(2);
    const [key] = graphOf(nameOf(0), 1, 0) as [string];
    const other = otherKeys(key)[1];
    await store.level.put(other, '\u0000');
    expect(await faults()).to.deep.equal(['The index POGS has 1 quads instead of 0.']);
    await store.level.del(other);
    await store.reorder(IndexSet.all);
    await store.level.del(other);
    expect(await faults()).to.deep.equal([
      `An index lacks ${JSON.stringify(other)}.`,
      'The index POGS has 79 quads instead of 80.',
    ]);
    await store.level.put(other, '\u0000');
    await store.level.put(metaKey('quads'), '81');
    expect(await faults()).to.deep.equal(['The quad counter is 81, but there are 80 quads.']);
    await store.level.put(metaKey('quads'), '80');
    const [last] = graphOf(nameOf(1), 1, 0) as [string];
    await store.level.put(metaKey('orders'), IndexSet.upTo(last).text);
    expect((await faults()).filter((fault) => !fault.startsWith('The index'))).to.deep.equal([]);
    expect(await faults()).to.include('The index SPOG has 80 quads instead of 41.');
    await store.level.put(metaKey('orders'), 'all');
    expect(store.entry(recordKey(root))).to.not.equal(undefined);
  });

  it('rejects a store with an unknown feature, by its name', async () => {
    await store.level.put(metaKey('features'), 'orders folded-keys');
    await store.close();
    const refusal = await openStore(dataDir, root, {}).catch((error: unknown) => error);
    expect(String(refusal)).to.include('features unknown to this one: folded-keys. Start');
    rmSync(dataDir, { recursive: true });
    store = await openStore(dataDir, root, {});
  });
});
