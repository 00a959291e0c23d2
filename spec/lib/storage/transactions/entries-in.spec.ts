/** Entries of a range as a transaction sees them: with what earlier transactions have staged and is not on the disk. */
import { expect } from 'chai';
import { entryKey, entryRange } from '../../../../lib/storage/keys/records.js';
import { memoryStore } from '../../../support/memory-store.js';

describe('storage/entries in a range', () => {
  it('are those that are committed, with what is staged before it and in it', async () => {
    const { store, dispose } = await memoryStore();
    const key = (name: string): string => entryKey('spec', 'of', name);
    await store.transact((tx) => {
      for (const name of ['a', 'b', 'c']) tx.putEntry(key(name), 'committed');
      tx.putEntry(entryKey('spec', 'other', 'x'), 'committed');
    });
    const seen: object[] = [];
    // The first is on its way to the disk when the second runs.
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
