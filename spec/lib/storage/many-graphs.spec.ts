/** Transactions that change many small graphs: reading ahead, and removal of dropped graphs. */
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { newRevision, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import type { Prepare } from '../../../lib/storage/transactions/commit-queue.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { type MemoryStore, memoryStore, root } from '../../support/memory-store.js';

const keysOf = (iri: string, value: number): readonly string[] =>
  encodeGraph(iri, new Parser().parse(`<${iri}> <http://e.example/p> ${value}, "a" .`) as unknown as Quad[]);

const recordOf = (iri: string): ResourceRecord => ({
  ...{ iri, kind: 'rdf', revision: newRevision(), mediaType: 'text/turtle', size: 10, created: 0, modified: 0 },
  triples: 2,
});

describe('Many small graphs', () => {
  let memory: MemoryStore;
  let records: readonly ResourceRecord[];

  beforeEach(async () => {
    memory = await memoryStore();
    records = Array.from({ length: 600 }, (_, at) => recordOf(`${root}${at}`));
    await memory.store.transact((tx) => {
      for (const record of records) {
        tx.putGraph(record.iri, [], keysOf(record.iri, 1));
        tx.putRecord(record);
        tx.changed({ after: record });
      }
      const top = tx.record(root)!;
      tx.putRecord({ ...top, members: (top.members ?? 0) + records.length });
    });
    // Without the caches.
    memory = await memory.reopen();
  });
  afterEach(() => memory.dispose());

  const count = (): { opened: number } => {
    const { level } = memory;
    const { keys } = level;
    const counted = { opened: 0 };
    level.keys = ((options: never) => {
      counted.opened++;
      return keys.call(level, options);
    }) as typeof level.keys;
    return counted;
  };

  it('are read ahead with few iterators, and not in the transaction', async () => {
    const { store } = memory;
    const counted = count();
    const work = async (tx: Transaction) => {
      expect(counted.opened).to.be.within(1, 5);
      const found: (readonly string[])[] = [];
      for (const { iri } of records) found.push(await tx.before.graph(tx.record(iri)!));
      return found;
    };
    const graphs = await store.transact(work, { prepare: store.readAhead(records) });
    expect(counted.opened).to.be.within(1, 5);
    expect(graphs).to.deep.equal(records.map(({ iri }) => keysOf(iri, 1)));
  });

  it('are read again if they have changed since they were read ahead', async () => {
    const { store } = memory;
    const [first] = records as [ResourceRecord];
    const prepare: Prepare<void> = async (after) => {
      await store.readAhead(records)(after);
      await store.transact((tx) => {
        tx.putGraph(first.iri, keysOf(first.iri, 1), keysOf(first.iri, 2));
        tx.putRecord({ ...first, revision: newRevision() });
      });
    };
    const found = await store.transact((tx) => tx.before.graph(tx.record(first.iri)!), { prepare });
    expect(found).to.deep.equal(keysOf(first.iri, 2));
  });

  it('are not held in memory after the work, whether it succeeds or fails', async () => {
    const { store } = memory;
    const counted = count();
    const prepare = store.readAhead(records);
    await store.transact(() => {}, { prepare });
    const failed = await store
      .transact(() => Promise.reject(new Error('spec')), { prepare })
      .catch(({ message }) => message);
    expect(failed).to.equal('spec');
    const before = counted.opened;
    await store.transact((tx) => tx.before.graph(tx.record(records[0]!.iri)!));
    expect(counted.opened).to.equal(before + 1);
  });

  it('are removed in few transactions after they were dropped, and their names can be used again', async () => {
    const { store } = memory;
    let transactions = 0;
    store.onCommit(({ hidden }) => {
      if (hidden.size > 0) transactions++;
    });
    await store.transact((tx) => {
      for (const record of records) {
        tx.dropGraph(record.iri, 2);
        tx.deleteRecord(record);
        tx.changed({ before: record });
      }
      const top = tx.record(root)!;
      tx.putRecord({ ...top, members: top.members! - records.length });
    });
    const again = recordOf(records[0]!.iri);
    await store.transact((tx) => {
      tx.putGraph(again.iri, [], keysOf(again.iri, 3));
      tx.putRecord(again);
      tx.changed({ after: again });
      const top = tx.record(root)!;
      tx.putRecord({ ...top, members: (top.members ?? 0) + 1 });
    });
    for (const { iri } of records) await store.nameFree(iri);
    expect(transactions).to.be.within(1, 3);
    const left: string[] = [];
    for await (const keys of store.keys({ gte: 'GSPO', lt: 'GSPP' })) left.push(...keys);
    expect(left).to.deep.equal(keysOf(again.iri, 3));
    expect((await checkStore(store)).faults).to.deep.equal([]);
  });
});
