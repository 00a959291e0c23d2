/** Store: atomic synced batches, separate results of transactions, consistent reads, and blobs that always have a resource. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { DataFactory } from 'rdf-data-factory';
import { encodeGraph } from '../../../../lib/storage/keys/quad-keys.js';
import { blobFacts, metaKey, newRevision, type ResourceRecord } from '../../../../lib/storage/keys/records.js';
import { checkStore } from '../../../../lib/storage/transactions/check.js';
import type { Transaction } from '../../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../../lib/tools/errors.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';

const f = new DataFactory<Quad>();
const graphOf = (iri: string, count: number, mark = 'x'): string[] =>
  encodeGraph(
    iri,
    Array.from({ length: count }, (_, i) =>
      f.quad(f.namedNode(`${iri}#it`), f.namedNode(`http://v/p${i}`), f.literal(mark)),
    ),
  );

/** Writes an RDF resource to the root like the operations on resources. */
async function put(tx: Transaction, name: string, keys: readonly string[]): Promise<ResourceRecord> {
  const iri = root + name;
  const before = tx.record(iri);
  const parent = tx.record(root)!;
  const record: ResourceRecord = {
    ...{ iri, kind: 'rdf', mediaType: 'text/turtle', revision: newRevision(), size: keys.length, triples: keys.length },
    ...{ created: 1, modified: 1 },
  };
  tx.putGraph(iri, before ? await tx.before.graph(before) : [], keys);
  tx.putRecord(record);
  if (!before) tx.putRecord({ ...parent, members: parent.members! + 1 });
  return record;
}

async function rejection(promise: Promise<unknown>): Promise<LwsError> {
  try {
    await promise;
  } catch (error) {
    return error as LwsError;
  }
  throw new Error('It was not rejected.');
}

describe('storage/store', () => {
  let memory: MemoryStore;
  beforeEach(async () => {
    memory = await memoryStore();
  });
  afterEach(async () => {
    const { faults } = await checkStore(memory.store);
    expect(faults).to.deep.equal([]);
    await memory.dispose();
  });

  it('writes a transaction completely, or not at all if its work throws', async () => {
    const { store } = memory;
    await store.transact((tx) => put(tx, 'a', graphOf(`${root}a`, 5)));
    const error = await rejection(
      store.transact(async (tx) => {
        await put(tx, 'b', graphOf(`${root}b`, 5));
        throw new LwsError('forbidden', 'no');
      }),
    );
    expect(error.code).to.equal('forbidden');
    expect(store.record(`${root}b`)).to.equal(undefined);
    expect((await store.graph(`${root}a`))!.keys).to.have.length(5);
  });

  it('reads no recently written small graph back until much more was written', async () => {
    const { store, level } = memory;
    let reads = 0;
    const keys = level.keys.bind(level) as (...given: unknown[]) => unknown;
    (level as { keys: unknown }).keys = (...given: unknown[]) => {
      reads++;
      return keys(...given);
    };
    const read = async (name: string): Promise<number> => {
      reads = 0;
      expect((await store.graph(root + name))!.keys).to.have.length(5);
      return reads;
    };
    await store.transact((tx) => put(tx, 'a', graphOf(`${root}a`, 5)));
    expect(await read('a')).to.equal(0);
    await store.transact((tx) => put(tx, 'a', graphOf(`${root}a`, 5, 'y')));
    expect(await read('a')).to.equal(0);
    // With keys of any length: all graphs together have a limit.
    for (let i = 0; i < 40; i++)
      await store.transact((tx) => put(tx, `long${i}`, graphOf(`${root}long${i}`, 5, `${i}`.repeat(30_000))));
    expect([await read('long39'), await read('a')]).to.deep.equal([0, 1]);
  });

  it('shows each of many concurrent transactions the previous one, and groups their batches', async () => {
    const { store, level } = memory;
    let batches = 0;
    level.on('write', () => batches++);
    const add = (i: number): Promise<ResourceRecord> =>
      store.transact(async (tx) => {
        const record = tx.record(`${root}n`);
        const keys = record ? await tx.before.graph(record) : [];
        return put(
          tx,
          'n',
          [
            ...keys,
            ...encodeGraph(`${root}n`, [
              f.quad(f.namedNode(`${root}n`), f.namedNode('http://v/i'), f.literal(String(i))),
            ]),
          ].sort(),
        );
      });
    await Promise.all(Array.from({ length: 100 }, (_, i) => add(i)));
    expect((await store.graph(`${root}n`))!.keys).to.have.length(100);
    expect(batches).to.be.below(50);
  });

  it('counts resources, and counts them anew after a batch of a version without the counter', async () => {
    const { store, level } = memory;
    await Promise.all(['a', 'b'].map((name) => store.transact((tx) => put(tx, name, graphOf(root + name, 5)))));
    expect(store.commits.counts).to.deep.equal({ resources: 3, quads: 10 });
    await rejection(
      store.transact(async (tx) => {
        await put(tx, 'c', graphOf(`${root}c`, 5));
        throw new LwsError('forbidden', 'no');
      }),
    );
    await store.transact((tx) => {
      const record = tx.record(`${root}a`)!;
      tx.deleteGraph(record.iri, graphOf(record.iri, 5));
      tx.deleteRecord(record);
      tx.putRecord({ ...tx.record(root)!, members: 1 });
    });
    expect(store.commits.counts).to.deep.equal({ resources: 2, quads: 5 });
    await level.put(metaKey('resources'), `7 ${await level.get(metaKey('batch'))}`);
    expect((await checkStore(store)).faults).to.deep.equal(['The resource counter is 7, but there are 2 resources.']);
    await level.put(metaKey('batch'), 'of an earlier version');
    await store.close();
    memory = await memory.reopen();
    expect(memory.store.commits.counts).to.deep.equal({ resources: 2, quads: 5 });
  });

  it('has a separate result for each transaction of a group: compare-and-swap accepts one of fifty', async () => {
    const { store } = memory;
    const { revision } = await store.transact((tx) => put(tx, 'c', graphOf(`${root}c`, 1)));
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        store.transact((tx) => {
          if (tx.record(`${root}c`)!.revision !== revision) throw new LwsError('precondition-failed', 'stale');
          return put(tx, 'c', graphOf(`${root}c`, 1, `w${i}`));
        }),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
  });

  it('passes sync to LevelDB with every batch (quadstore does not)', async () => {
    const { store, level } = memory;
    const options: unknown[] = [];
    const batch = level.batch.bind(level);
    level.batch = (() => {
      const made = (batch as () => { write(o: object): Promise<void> })();
      const write = made.write.bind(made);
      made.write = (given) => {
        options.push(given);
        return write(given);
      };
      return made;
    }) as never;
    await store.transact((tx) => put(tx, 's', graphOf(`${root}s`, 1)));
    level.batch = batch;
    expect(options).to.deep.equal([{ sync: true }]);
  });

  it('deletes a graph in one batch with its record (quadstore: one batch per quad)', async () => {
    const { store, level } = memory;
    const record = await store.transact((tx) => put(tx, 'd', graphOf(`${root}d`, 50)));
    let batches = 0;
    level.on('write', () => batches++);
    await store.transact(async (tx) => {
      tx.deleteGraph(record.iri, await tx.before.graph(record));
      tx.deleteRecord(record);
      tx.putRecord({ ...tx.record(root)!, members: 0 });
    });
    expect(batches).to.equal(1);
    expect(await store.graph(record.iri)).to.equal(undefined);
  });

  it('writes only the difference when a graph is replaced', async () => {
    const { store } = memory;
    await store.transact((tx) => put(tx, 'e', graphOf(`${root}e`, 20)));
    const changed = await store.transact(async (tx) => {
      await put(tx, 'e', [...graphOf(`${root}e`, 19), ...graphOf(`${root}e`, 1, 'new')].sort());
      return tx.graphs.get(`${root}e`)!;
    });
    expect([changed.added.length, changed.removed.length]).to.deep.equal([1, 1]);
  });

  it('counts the bytes of each batch without those staged for later ones', async () => {
    const { store } = memory;
    const counted: string[] = [];
    let staged = 0;
    const onStaged = (): void => void staged++;
    const write = async (operations: readonly (readonly [string, string | null])[]): Promise<void> => {
      expect(staged).to.equal(3);
      counted.push(operations.at(-1)![1]!);
      const batch = store.level.batch();
      for (const [key, value] of operations) if (value !== null) batch.put(key, value);
      await batch.write();
    };
    const add = (name: string, triples: number, hasPartner: boolean): Promise<void> =>
      store.transact(
        async (tx) => {
          await put(tx, name, graphOf(root + name, triples));
          if (hasPartner) tx.batchWriter = { bytes: 0, write };
        },
        { onStaged },
      );
    await Promise.all([add('a', 5, true), add('b', 7, true), add('c', 9, false)]);
    expect(counted).to.deep.equal(['5', '12']);
    expect(store.bytes).to.equal(21);
  });

  it('returns storage-full for a failed batch, keeps acknowledged writes, and writes nothing after it', async () => {
    const { store, level } = memory;
    await store.transact((tx) => put(tx, 'f', graphOf(`${root}f`, 3)));
    const batch = level.batch.bind(level);
    level.batch = (() => {
      const made = (batch as () => { write(): Promise<void> })();
      made.write = () => Promise.reject(Object.assign(new Error('No space left on device'), { code: 'ENOSPC' }));
      return made;
    }) as never;
    expect((await rejection(store.transact((tx) => put(tx, 'g', [])))).code).to.equal('storage-full');
    level.batch = batch;
    expect((await rejection(store.transact((tx) => put(tx, 'h', [])))).code).to.equal('storage-full');
    expect((await store.graph(`${root}f`))!.keys).to.have.length(3);
    memory = await memory.reopen();
    await memory.store.transact((tx) => put(tx, 'h', []));
    expect(memory.store.record(`${root}g`)).to.equal(undefined);
  });

  it('removes the blob of a replaced resource after the commit', async () => {
    const { store, folder } = memory;
    const upload = async (text: string): Promise<string> => {
      const blob = await store.blobs.create();
      await blob.write(Buffer.from(text));
      await blob.finish();
      return blob.blob;
    };
    const blobs: string[] = [];
    for (const text of ['one', 'second']) {
      const blob = await upload(text);
      blobs.push(blob);
      await store.transact((tx) => {
        const before = tx.record(`${root}j`);
        tx.putRecord({
          ...{ iri: `${root}j`, kind: 'binary', mediaType: 'text/plain', revision: newRevision(), size: text.length },
          ...{ blob, sha256: hash('sha256', text, 'base64'), created: 1, modified: 1 },
        });
        if (!before) tx.putRecord({ ...tx.record(root)!, members: 1 });
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    const place = (blob: string): string => join(folder, 'blobs', blob.slice(0, 2), blob);
    expect(blobs.map((blob) => existsSync(place(blob)))).to.deep.equal([false, true]);
    expect(readdirSync(join(folder, 'blobs', 'tmp'))).to.deep.equal([]);
    expect((await store.blobs.bytes(blobFacts(store.record(`${root}j`)!))).toString()).to.equal('second');
  });

  it('rejects another storage IRI', async () => {
    const { Store } = await import('../../../../lib/storage/transactions/store.js');
    const error = await rejection(Store.open(memory.level, memory.folder, 'http://other.example/'));
    expect(error.message).to.contain('http://other.example/').and.to.contain('lws.base-uri');
  });
});
