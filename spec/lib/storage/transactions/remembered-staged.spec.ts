/** Hidden graphs cached between snapshots equal those that each snapshot marks. */
import { expect } from 'chai';
import { type StagedNames, stagedGraphs, stagedKey } from '../../../../lib/storage/graphs/staged-keys.js';
import { RememberedStaged } from '../../../../lib/storage/transactions/remembered-staged.js';
import { memoryStore } from '../../../support/memory-store.js';

describe('Cached hidden graphs', () => {
  it('are those of each snapshot, taken at any time while graphs are hidden and shown', async () => {
    const { store, level, dispose } = await memoryStore();
    const remembered = new RememberedStaged(store);
    const looked: Promise<unknown>[] = [];
    const look = async (): Promise<void> => {
      const snapshot = level.snapshot();
      const then = remembered.of(level, snapshot);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
      expect(await then()).to.deep.equal(await stagedGraphs(level, snapshot));
      await snapshot.close();
    };
    for (let round = 0; round < 100; round++) {
      const graph = stagedKey(`http://storage.example/${round % 3}`);
      const work = store.transact((tx) => (round % 2 === 0 ? tx.putEntry(graph, 'dropped') : tx.deleteEntry(graph)));
      looked.push(look());
      if (round % 4 < 2) await work;
      looked.push(look(), look());
      await new Promise((resolve) => setImmediate(resolve));
      looked.push(look());
      await work;
    }
    await Promise.all(looked);
    await dispose();
  });

  it('are not read again without changes', async () => {
    const { store, level, dispose } = await memoryStore();
    const remembered = new RememberedStaged(store);
    await store.transact((tx) => tx.putEntry(stagedKey('http://storage.example/a'), `loading a ${Date.now()}`));
    const names = async (): Promise<StagedNames> => {
      const snapshot = level.snapshot();
      return remembered
        .of(level, snapshot)()
        .finally(() => snapshot.close());
    };
    const first = await names();
    expect([first.size, first.has('http://storage.example/a')]).to.deep.equal([1, true]);
    await store.transact((tx) => tx.putEntry('another', 'entry'));
    expect(await names()).to.equal(first);
    await dispose();
  });
});
