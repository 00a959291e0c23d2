/** Entries of a range in a transaction, including uncommitted changes of earlier transactions. */
import { expect } from 'chai';
import { entryKey, entryRange } from '../../../../lib/storage/keys/records.js';
import { memoryStore } from '../../../support/memory-store.js';

describe('Entries of a range', () => {
  it('are the committed ones, with those staged before and in the transaction', async () => {
    const { store, dispose } = await memoryStore();
    const key = (name: string): string => entryKey('spec', 'of', name);
    await store.transact((tx) => {
      for (const name of ['a', 'b', 'c']) tx.putEntry(key(name), 'committed');
      tx.putEntry(entryKey('spec', 'other', 'x'), 'committed');
    });
    const seen: object[] = [];
    // The first is being committed when the second runs.
    await Promise.all([
      store.transact((tx) => {
        tx.deleteEntry(key('a'));
        tx.putEntry(key('d'), 'staged');
      }),
      store.transact(async (tx) => {
        tx.putEntry(key('b'), 'own');
        tx.deleteEntry(key('d'));
        tx.putEntry(key('e'), 'own');
        seen.push(Object.fromEntries(await tx.entriesIn(entryRange('spec', 'of'))));
      }),
      store.transact(async (tx) => {
        seen.push(Object.fromEntries(await tx.entriesIn(entryRange('spec', 'of'))));
      }),
    ]);
    const wanted = { [key('b')]: 'own', [key('c')]: 'committed', [key('e')]: 'own' };
    expect(seen).to.deep.equal([wanted, wanted]);
    await dispose();
  });
});
