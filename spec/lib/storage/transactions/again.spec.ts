/** Transactions that run again, a limited number of times. */
import { expect } from 'chai';
import { entryKey } from '../../../../lib/storage/keys/records.js';
import { Again } from '../../../../lib/storage/transactions/again.js';
import type { Transaction } from '../../../../lib/storage/transactions/transaction.js';
import { LwsError } from '../../../../lib/tools/errors.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';

const key = entryKey('spec', 'a');
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('A transaction that runs again', () => {
  let memory: MemoryStore;
  const counts = { prepared: 0, staged: 0 };

  beforeEach(async () => {
    memory = await memoryStore();
    Object.assign(counts, { prepared: 0, staged: 0 });
  });
  afterEach(() => memory.dispose());

  /** Work that finds its state outdated this often. */
  const outdated = (times: number) => (tx: Transaction, prepared: number) => {
    counts.staged++;
    tx.putEntry(key, String(prepared));
    if (prepared <= times) throw new Again(root);
  };
  const prepare = async (): Promise<number> => ++counts.prepared;

  it('is computed again if its state is outdated, and written once', async () => {
    await memory.store.transact(outdated(29), { prepare });
    expect(counts).to.deep.equal({ prepared: 30, staged: 30 });
    expect(memory.store.entry(key)).to.equal('30');
  });

  it('fails after thirty attempts, with Retry-After, and writes nothing', async () => {
    const refusal = await failureOf(memory.store.transact(outdated(30), { prepare }));
    expect(refusal).to.be.instanceOf(LwsError).with.property('code', 'too-busy');
    expect((refusal as LwsError).fields).to.have.property('Retry-After', '1');
    expect(counts).to.deep.equal({ prepared: 30, staged: 30 });
    expect(memory.store.entry(key)).to.equal(undefined);
  });

  it('is not computed again if only a listener needs a preparation', async () => {
    let isReady = false;
    memory.store.onTransaction(() => {
      if (isReady) return;
      throw new Again(async () => {
        isReady = true;
      });
    });
    const work = (tx: Transaction, prepared: number): void => {
      outdated(0)(tx, prepared);
      tx.changed({ before: tx.record(root)!, after: tx.record(root)! });
    };
    await memory.store.transact(work, { prepare });
    expect(counts).to.deep.equal({ prepared: 1, staged: 2 });
  });

  it('runs after the other ones on the same resource', async () => {
    let [running, most, written] = [0, 0, 0];
    const increment = async (): Promise<void> => {
      const compute = async (): Promise<number> => {
        most = Math.max(most, ++running);
        const seen = written;
        await memory.store.transact(() => {});
        return seen;
      };
      const work = (_: Transaction, seen: number): void => {
        running--;
        if (seen !== written) throw new Again(root);
        written++;
      };
      await memory.store.transact(work, { prepare: compute, iri: root });
    };
    await Promise.all(Array.from({ length: 50 }, increment));
    expect({ most, written }).to.deep.equal({ most: 1, written: 50 });
  });

  it('releases what an earlier attempt prepared, and learns if the last one was committed', async () => {
    const released: unknown[] = [];
    const register = async (after: (release: (error: unknown) => void) => void): Promise<number> => {
      after((error) => released.push(error));
      return prepare();
    };
    await memory.store.transact(outdated(1), { prepare: register });
    expect(released.map((error) => error instanceof Again)).to.deep.equal([true, false]);
    expect(released[1]).to.equal(undefined);
    const failure = new Error('spec');
    const failing = (): never => {
      throw failure;
    };
    expect(await failureOf(memory.store.transact(failing, { prepare: register }))).to.equal(failure);
    expect(released).to.have.length(3).and.include(failure);
  });

  it('ends with the error of its preparation', async () => {
    const failure = new Error('spec');
    const work = (): never => {
      throw new Again(() => Promise.reject(failure));
    };
    expect(await failureOf(memory.store.transact(work))).to.equal(failure);
  });

  it('returns its result and writes nothing as a dry run, without its listeners', async () => {
    let told = 0;
    memory.store.onTransaction(() => void told++);
    const work = (tx: Transaction): number => {
      tx.putEntry(key, 'a');
      tx.changed({ before: tx.record(root)!, after: tx.record(root)! });
      return 7;
    };
    expect(await memory.store.transact(work, { isDryRun: true })).to.equal(7);
    expect(memory.store.entry(key)).to.equal(undefined);
    expect(told).to.equal(0);
    await memory.store.transact(work);
    expect(told).to.equal(1);
  });
});
