/**
 * Cache of posting lists, and of their merges, for repeated searches: reading and merging postings is 90 % of a search. Every
 * commit updates the cache before it is acknowledged. Shared by all callers.
 */
import { LRUCache } from 'lru-cache';
import type { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import { entryKey, entryRange, rangeOf } from '../../../lib/storage/keys/records.js';
import { ListStream, type SteppedStream } from '../../../lib/storage/level/entry-cursor.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { lruCache } from '../../../lib/tools/caches.js';
import { intersection, union } from './merge.js';

interface List {
  readonly iris: readonly string[];
  /** Version of this state, unique among all states of all lists. */
  readonly version: number;
  /** Changes committed since this state, which the next request applies. */
  readonly changes: Map<string, boolean>;
}

/** Result of a filter. Valid while the lists still have these versions. */
interface Merged {
  readonly iris: readonly string[];
  readonly versions: readonly number[];
}

/** Filter in normal form, and its lists in the state of the last commit. */
interface Found {
  readonly key: string;
  readonly groups: readonly (readonly List[])[];
}

interface Pending {
  readonly transaction: Transaction;
  prefixes?: ReadonlySet<string>;
}

/** Parts of the key prefix that identifies a list, after the space. */
type Posting = readonly string[];

/** Entry space of the postings. The keys of a list have the same first `parts` parts, and differ in the rest. */
export interface PostingSpace {
  readonly space: string;
  readonly parts: number;
  /** Part of a transaction in which the postings are staged. Default: entries. */
  readonly of?: 'entries' | 'postings';
}

/** Sum of the list lengths above which a merge takes several milliseconds. */
const longMerge = 20_000;

export class PostingLists {
  private readonly lists: LRUCache<string, List>;
  private readonly merged: LRUCache<string, Merged>;
  private readonly tooLong = lruCache<true>(1_000);
  /** Lists that are being read, with the changes committed since the read began. */
  private readonly reading = new Map<string, { readonly list: Promise<unknown>; readonly changes: List['changes'] }>();
  private readonly keyPrefix: string;
  private readonly listBytes: number;
  private lastVersion = 0;

  /** @param maxBytes approximate total size: three quarters for lists, one quarter for results of filters */
  constructor(
    private readonly store: Store,
    private readonly keys: PostingSpace,
    maxBytes: number,
  ) {
    this.keyPrefix = entryKey(keys.space, '');
    this.listBytes = Math.max(1, Math.floor(maxBytes * 0.75));
    this.lists = new LRUCache({ maxSize: this.listBytes, sizeCalculation: ({ iris }, key) => bytesOf(key, iris) });
    // The strings are shared with the lists, so they are not counted. The versions take less memory than the key.
    this.merged = new LRUCache({
      maxSize: Math.max(1, maxBytes - this.listBytes),
      sizeCalculation: ({ iris }, key) => 1000 + 2 * key.length + 8 * iris.length,
    });
    store.onStage((transaction) => void this.pending.push({ transaction }));
    store.onDrop((transaction) => this.settle(transaction));
    store.onCommit((transaction) => this.apply(transaction));
  }

  /**
   * Returns a stream of the postings of a list. Takes the cached list, unless a pending commit changes it: the snapshot may or
   * may not include that commit.
   * @param snapshot taken in the same synchronous section
   */
  stream(snapshot: StoreSnapshot, ...posting: Posting): SteppedStream {
    const list = this.known(posting);
    if (list) return new ListStream(list.iris);
    this.warm(...posting);
    return snapshot.cursor(this.keys.space, ...posting);
  }

  /** Reads a list into the cache for later requests. */
  warm(...posting: Posting): void {
    this.obtain(posting).catch(() => {});
  }

  /**
   * Returns the postings of a list, and caches them: a second read for the cache would double the time. The array must not be
   * modified. `undefined`: the list is too long.
   * @param snapshot taken in the same synchronous section
   */
  async list(snapshot: StoreSnapshot, ...posting: Posting): Promise<readonly string[] | undefined> {
    const known = this.known(posting);
    if (known) return known.iris;
    const prefix = entryRange(this.keys.space, ...posting).gte;
    if (this.tooLong.has(prefix)) return undefined;
    const keys = snapshot.keys(rangeOf(prefix));
    if (this.isUnderWay(prefix) || this.reading.has(prefix)) return this.read(prefix, keys);
    return this.reads(prefix, keys);
  }

  /** Returns the postings of a list if it is cached, in its current state. The array must not be modified. */
  cached(...posting: Posting): readonly string[] | undefined {
    return this.known(posting)?.iris;
  }

  /**
   * Returns the resources that have at least one posting of every group, or `undefined` if a list is not cached. The
   * result is cached and reused while the lists do not change.
   */
  matches(groups: readonly (readonly Posting[])[]): Promise<readonly string[]> | undefined {
    const found = this.find(groups);
    return found && this.merge(found);
  }

  /** True if `matches` would have to merge long lists. */
  isLong(groups: readonly (readonly Posting[])[]): boolean {
    const found = this.find(groups);
    if (!found || this.result(found)) return false;
    return found.groups.flat().reduce((sum, { iris }) => sum + iris.length, 0) > longMerge;
  }

  /** Returns the lists of a filter, in a normal form: sorted, without duplicate postings and groups. */
  private find(groups: readonly (readonly Posting[])[]): Found | undefined {
    const texts = groups.map((group) => JSON.stringify(distinct(group.map((posting) => JSON.stringify(posting)))));
    const sorted = distinct(texts);
    const lists: List[][] = [];
    for (const text of sorted) {
      const found = (JSON.parse(text) as string[]).map((posting) => this.known(JSON.parse(posting) as Posting));
      if (found.includes(undefined)) return undefined;
      lists.push(found as List[]);
    }
    return { key: sorted.join('\n'), groups: lists };
  }

  /** Returns the result of a filter if it is cached or is a single list. */
  private result({ key, groups }: Found): readonly string[] | undefined {
    const lists = groups.flat();
    if (lists.length === 1) return lists[0]!.iris;
    const known = this.merged.get(key);
    return known && lists.every(({ version }, at) => version === known.versions[at]) ? known.iris : undefined;
  }

  private async merge(found: Found): Promise<readonly string[]> {
    const known = this.result(found);
    if (known) return known;
    const { key, groups } = found;
    const iris: string[] = [];
    const streams = groups.map((group) => union(group.map((list) => new ListStream(list.iris))));
    for await (const block of intersection(streams)) for (const iri of block) iris.push(iri);
    this.merged.set(key, { iris, versions: groups.flat().map(({ version }) => version) });
    return iris;
  }

  /** Returns a cached list in the state of the last commit. */
  private known(posting: Posting): List | undefined {
    const prefix = entryRange(this.keys.space, ...posting).gte;
    const list = this.isUnderWay(prefix) ? undefined : this.lists.get(prefix);
    return !list || list.changes.size === 0 ? list : this.keep(prefix, changed(list.iris, list.changes), new Map());
  }

  private keep(prefix: string, iris: readonly string[], changes: List['changes']): List {
    const list = { iris, changes, version: ++this.lastVersion };
    this.lists.set(prefix, list);
    return list;
  }

  /**
   * Pending transactions, in the order of commits. The prefixes of the lists that a transaction changes are computed at the
   * first request, so that writes stay cheap. Not a `Map`, because its old tables would keep transactions alive until the next
   * full garbage collection.
   */
  private readonly pending: Pending[] = [];

  private settle(transaction: Transaction): void {
    const at = this.pending.findIndex((pending) => pending.transaction === transaction);
    if (at >= 0) this.pending.splice(at, 1);
  }

  /** True if a pending transaction changes a list. */
  private isUnderWay(prefix: string): boolean {
    return this.pending.some((pending) => {
      pending.prefixes ??= this.prefixesOf(pending.transaction);
      return pending.prefixes.has(prefix);
    });
  }

  private prefixesOf(transaction: Transaction): ReadonlySet<string> {
    const prefixes = new Set<string>();
    for (const key of transaction[this.keys.of ?? 'entries'].keys())
      if (key.startsWith(this.keyPrefix)) prefixes.add(key.slice(0, this.cutOf(key)));
    return prefixes;
  }

  /** Returns the index in a key at which the prefix of its list ends. */
  private cutOf(key: string): number {
    let at = this.keyPrefix.length;
    for (let part = 0; part < this.keys.parts; part++) at = key.indexOf('\u0000', at) + 1;
    return at;
  }

  private async obtain(posting: Posting): Promise<void> {
    const prefix = entryRange(this.keys.space, ...posting).gte;
    if (this.lists.has(prefix) || this.tooLong.has(prefix)) return;
    await (this.reading.get(prefix)?.list ?? this.reads(prefix, this.store.keys(rangeOf(prefix))));
  }

  /** Reads a list and caches it. */
  private reads(prefix: string, keys: AsyncIterable<string[]>): Promise<readonly string[] | undefined> {
    const changes: List['changes'] = new Map();
    const list = this.read(prefix, keys)
      .then((iris) => iris && this.keep(prefix, iris, changes).iris)
      .finally(() => this.reading.delete(prefix));
    this.reading.set(prefix, { changes, list });
    return list;
  }

  private async read(prefix: string, blocks: AsyncIterable<string[]>): Promise<readonly string[] | undefined> {
    const iris: string[] = [];
    for await (const keys of blocks) {
      // A slice of a key would keep the whole key in memory. Strings parsed from JSON do not.
      const texts = JSON.parse(JSON.stringify(keys.map((key) => key.slice(prefix.length)))) as string[];
      for (const text of texts) iris.push(text);
      if (bytesOf(prefix, iris) <= this.listBytes) continue;
      this.tooLong.set(prefix, true);
      return undefined;
    }
    return iris;
  }

  private apply(transaction: Transaction): void {
    this.settle(transaction);
    if (this.lists.size === 0 && this.reading.size === 0) return;
    for (const [key, value] of transaction[this.keys.of ?? 'entries']) {
      if (!key.startsWith(this.keyPrefix)) continue;
      const cut = this.cutOf(key);
      const [prefix, iri] = [key.slice(0, cut), key.slice(cut)];
      this.reading.get(prefix)?.changes.set(iri, value !== null);
      const list = this.lists.peek(prefix);
      list?.changes.set(iri, value !== null);
      // Drop a list that has collected many changes: it has not been requested for a while.
      if (list && list.changes.size > 100 + list.iris.length / 10) this.lists.delete(prefix);
    }
  }
}

/** Estimates the memory of a list from its first and last text. Reading all texts would cost more than the cache saves. */
const bytesOf = (key: string, iris: readonly string[]): number =>
  Math.ceil(
    100 + 2 * key.length + iris.length * (24 + ((iris[0]?.length ?? 0) + (iris[iris.length - 1]?.length ?? 0)) / 2),
  );

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Maximum arguments of a function call. */
const maxArguments = 10_000;

/** Returns a new list with the changes applied. The old list is unchanged, because running searches may still read it. */
function changed(iris: readonly string[], changes: ReadonlyMap<string, boolean>): readonly string[] {
  const [parts, list]: [(readonly string[])[], ListStream] = [[], new ListStream(iris)];
  let at = 0;
  for (const iri of [...changes.keys()].sort()) {
    const next = list.indexOf(iri);
    parts.push(iris.slice(at, next), changes.get(iri) ? [iri] : []);
    at = iris[next] === iri ? next + 1 : next;
  }
  parts.push(iris.slice(at));
  // `concat` copies memory; `flat` takes 20 ms for 250 000 IRIs.
  const batches: string[][] = [];
  for (let from = 0; from < parts.length; from += maxArguments)
    batches.push(([] as string[]).concat(...parts.slice(from, from + maxArguments)));
  return ([] as string[]).concat(...batches);
}
