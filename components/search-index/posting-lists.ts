/**
 * Cache of postings for repeated searches: reading them from disk is 90 % of a search. Updated by every commit before it is
 * acknowledged. Independent of the caller.
 */
import { LRUCache } from 'lru-cache';
import { lruCache } from '../../lib/caches.js';
import type { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { entryKey, entryRange } from '../../lib/storage/keys/records.js';
import { ListStream, type SortedStream } from '../../lib/storage/level/entry-cursor.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { postingSpace } from './postings.js';

/** Longer lists are read from disk. */
const longestList = 20_000;

interface List {
  readonly iris: readonly string[];
  /** True if the list was requested since its last change. Otherwise the next change evicts it. */
  used: boolean;
}

type Change = readonly [iri: string, isThere: boolean];

export class PostingLists {
  private readonly lists: LRUCache<string, List>;
  private readonly tooLong = lruCache<true>(1_000);
  /** Lists that are being read, with the changes committed in between. */
  private readonly reading = new Map<string, { readonly list: Promise<List | undefined>; changes: Change[] }>();
  private readonly keyPrefix = `${entryKey(postingSpace)}\u0000`;

  /** @param maxBytes approximate total size */
  constructor(
    private readonly store: Store,
    maxBytes: number,
  ) {
    this.lists = new LRUCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: ({ iris }) => Math.ceil(bytesOf(iris)),
    });
    store.onStage((transaction) => this.expect(transaction, 1));
    store.onDrop((transaction) => this.expect(transaction, -1));
    store.onCommit((transaction) => this.apply(transaction));
  }

  /**
   * Returns a stream of the resources that have a relation to a value, in the state of a snapshot taken in the same turn. Cached
   * lists are used only without pending commits that change them, because the snapshot may or may not include those.
   */
  stream(snapshot: StoreSnapshot, relation: string, value: string): SortedStream {
    const prefix = entryRange(postingSpace, relation, value).gte;
    const list = this.underWay.has(prefix) ? undefined : this.lists.get(prefix);
    if (list) {
      list.used = true;
      return new ListStream(list.iris);
    }
    // Fills the cache for the next request.
    this.obtain(relation, value).catch(() => {});
    return snapshot.cursor(postingSpace, relation, value);
  }

  /** Number of pending commits that change a list. */
  private readonly underWay = new Map<string, number>();

  private expect({ entries }: Transaction, by: 1 | -1): void {
    for (const key of entries.keys()) {
      if (!key.startsWith(this.keyPrefix)) continue;
      const prefix = key.slice(0, key.lastIndexOf('\u0000') + 1);
      const count = (this.underWay.get(prefix) ?? 0) + by;
      if (count === 0) this.underWay.delete(prefix);
      else this.underWay.set(prefix, count);
    }
  }

  private async obtain(relation: string, value: string): Promise<List | undefined> {
    const prefix = entryRange(postingSpace, relation, value).gte;
    const known = this.lists.get(prefix);
    if (known) {
      known.used = true;
      return known;
    }
    if (this.tooLong.has(prefix)) return undefined;
    const running = this.reading.get(prefix);
    if (running) return running.list;
    const entry = { changes: [] as Change[], list: Promise.resolve<List | undefined>(undefined) };
    this.reading.set(prefix, entry);
    entry.list = this.read(relation, value, prefix, entry.changes).finally(() => this.reading.delete(prefix));
    return entry.list;
  }

  private async read(relation: string, value: string, prefix: string, changes: Change[]): Promise<List | undefined> {
    let iris: string[] = [];
    for await (const keys of this.store.keys(entryRange(postingSpace, relation, value))) {
      for (const key of keys) iris.push(key.slice(prefix.length));
      if (iris.length > longestList) {
        this.tooLong.set(prefix, true);
        return undefined;
      }
    }
    // A slice would hold the whole key in memory. Strings parsed from JSON do not.
    iris = JSON.parse(JSON.stringify(iris)) as string[];
    const list: List = { iris: changes.reduce(changed, iris as readonly string[]), used: true };
    this.lists.set(prefix, list);
    return list;
  }

  private apply(transaction: Transaction): void {
    this.expect(transaction, -1);
    const { entries } = transaction;
    if (this.lists.size === 0 && this.reading.size === 0) return;
    for (const [key, value] of entries) {
      if (!key.startsWith(this.keyPrefix)) continue;
      const cut = key.lastIndexOf('\u0000') + 1;
      const prefix = key.slice(0, cut);
      const change: Change = [key.slice(cut), value !== null];
      this.reading.get(prefix)?.changes.push(change);
      const list = this.lists.peek(prefix);
      if (!list) continue;
      if (list.used) this.lists.set(prefix, { iris: changed(list.iris, change), used: false });
      else this.lists.delete(prefix);
    }
  }
}

/** Estimates the memory of a list from its first and last text. Reading all of them would cost more than the cache saves. */
const bytesOf = (iris: readonly string[]): number =>
  100 + iris.length * (24 + ((iris[0]?.length ?? 0) + (iris[iris.length - 1]?.length ?? 0)) / 2);

/** Returns a new list, because running searches continue with the old one. */
function changed(iris: readonly string[], [iri, isThere]: Change): readonly string[] {
  const at = new ListStream(iris).indexOf(iri);
  const has = iris[at] === iri;
  if (has === isThere) return iris;
  return isThere ? [...iris.slice(0, at), iri, ...iris.slice(at)] : [...iris.slice(0, at), ...iris.slice(at + 1)];
}
