/** Cached posting lists and results of filters. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { intersection } from '../../../../components/search/postings/merge.js';
import { PostingLists } from '../../../../components/search/postings/posting-lists.js';
import { postingSpace, postings } from '../../../../components/search/type-index/postings.js';
import { StoreSnapshot } from '../../../../lib/storage/graphs/snapshot.js';
import { entryKey } from '../../../../lib/storage/keys/records.js';
import { ListStream } from '../../../../lib/storage/level/entry-cursor.js';
import { type MemoryStore, memoryStore, root } from '../../../support/memory-store.js';

const nameOf = (number: number): string => `${root}m${String(number).padStart(6, '0')}`;
type Posting = readonly [relation: string, value: string];
const [a, b] = ['a', 'b'].map((name): Posting => ['type', `http://types.example/${name}`]) as [Posting, Posting];

describe('Posting lists', () => {
  let memory: MemoryStore;
  let lists: PostingLists;
  beforeEach(async () => {
    memory = await memoryStore();
    lists = new PostingLists(memory.store, postings, 32 << 20);
  });
  afterEach(() => memory.dispose());

  const put = (posting: Posting, numbers: readonly number[], exists = true): Promise<void> =>
    memory.store.transact((tx) => {
      for (const number of numbers) {
        const key = entryKey(postingSpace, ...posting, nameOf(number));
        if (exists) tx.putEntry(key, '');
        else tx.deleteEntry(key);
      }
    });

  /** Reads lists into the cache. */
  async function load(...postings: Posting[]): Promise<void> {
    const snapshot = new StoreSnapshot(memory.store.level);
    for (const posting of postings) lists.stream(snapshot, ...posting);
    while (!lists.matches(postings.map((posting) => [posting]))) await turn();
    await snapshot.close();
  }

  it('caches the result of a filter independently of the order and repetition of its groups, until a list changes', async () => {
    await put(a, [1, 2, 3]);
    await put(b, [2, 3, 4]);
    await load(a, b);
    const first = await lists.matches([[a], [b], [a, b]]);
    expect(first).to.deep.equal([2, 3].map(nameOf));
    expect(await lists.matches([[b, a, b], [b], [a], [a]])).to.equal(first);
    await put(a, [4]);
    expect(await lists.matches([[a], [b], [a, b]])).to.deep.equal([2, 3, 4].map(nameOf));
    await put(b, [3], false);
    expect(await lists.matches([[a], [b], [a, b]])).to.deep.equal([2, 4].map(nameOf));
    expect(await lists.matches([[b, a]])).to.deep.equal([1, 2, 3, 4].map(nameOf));
  });

  it('applies thousands of changes to a list', async () => {
    const numbers = Array.from({ length: 30_000 }, (_, at) => at);
    await put(
      a,
      numbers.map((number) => 2 * number),
    );
    await load(a);
    const [odd, gone] = [numbers.slice(0, 2000).map((number) => 2 * number + 1), numbers.slice(0, 50)];
    await put(a, odd);
    await put(
      a,
      gone.map((number) => 2 * number),
      false,
    );
    const wanted = new Set([...numbers.slice(50).map((number) => 2 * number), ...odd]);
    expect(await lists.matches([[a]])).to.deep.equal([...wanted].sort((one, other) => one - other).map(nameOf));
  });

  it('tells whether long lists have to be merged', async () => {
    await put(
      a,
      Array.from({ length: 20_001 }, (_, at) => at),
    );
    await put(b, [5]);
    await load(a);
    await load(b);
    expect(lists.isLong([[a]])).to.equal(false);
    expect(lists.isLong([[a], [b]])).to.equal(true);
    expect(await lists.matches([[a], [b]])).to.deep.equal([nameOf(5)]);
    expect(lists.isLong([[b], [a]])).to.equal(false);
  });

  it('lets other work run while lists without a common resource are merged', async () => {
    const listOf = (offset: number) => Array.from({ length: 200_000 }, (_, at) => nameOf(2 * at + offset));
    const streams = [new ListStream(listOf(0)), new ListStream(listOf(1))];
    let turns = 0;
    let timer = setImmediate(function again() {
      turns++;
      timer = setImmediate(again);
    });
    const found = await intersection(streams).next();
    clearImmediate(timer);
    expect(found.done).to.equal(true);
    expect(turns).to.be.at.least(2);
  });
});
