/**
 * Cache of postings, and of results of filters, for repeated searches: reading and merging postings is 90 % of a search. Updated by
 * every commit before it is acknowledged. Independent of the caller.
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
  /** Unique for each state of each list. */
  readonly version: number;
  /** Changes since then, which the next request applies. */
  readonly changes: Map<string, boolean>;
}

/** Result of a filter, valid while the lists have the versions that it was merged from. */
interface Merged {
  readonly iris: readonly string[];
  readonly versions: readonly number[];
}

/** Filter in a normal form, and its lists in the state of the last commit. */
interface Found {
  readonly key: string;
  readonly groups: readonly (readonly List[])[];
}

interface Pending {
  readonly transaction: Transaction;
  prefixes?: ReadonlySet<string>;
}

/** Parts of the keys of a list, without the space. */
type Posting = readonly string[];

/** Entry space of the postings. The keys of a list have the same `parts` after it, and differ in what follows. */
export interface PostingSpace {
  readonly space: string;
  readonly parts: number;
  /** Where transactions stage them. Default: entries. */
  readonly of?: 'entries' | 'postings';
}

/** Merging lists with more IRIs takes milliseconds. */
const longMerge = 20_000;

export class PostingLists {
  private readonly lists: LRUCache<string, List>;
  private readonly merged: LRUCache<string, Merged>;
  private readonly tooLong = lruCache<true>(1_000);
  /** Lists that are being read, with the changes committed in between. */
  private readonly reading = new Map<string, { readonly list: Promise<unknown>; readonly changes: List['changes'] }>();
  private readonly keyPrefix: string;
  private readonly listBytes: number;
  private lastVersion = 0;

  /** @param maxBytes approximate total size: three quarters for lists, one for results of filters */
  constructor(
    private readonly store: Store,
    private readonly keys: PostingSpace,
    maxBytes: number,
  ) {
    this.keyPrefix = entryKey(keys.space, '');
    this.listBytes = Math.max(1, Math.floor(maxBytes * 0.75));
    this.lists = new LRUCache({ maxSize: this.listBytes, sizeCalculation: ({ iris }, key) => bytesOf(key, iris) });
    // The strings are shared with the lists. The versions of a key take less memory than it.
    this.merged = new LRUCache({
      maxSize: Math.max(1, maxBytes - this.listBytes),
      sizeCalculation: ({ iris }, key) => 1000 + 2 * key.length + 8 * iris.length,
    });
    store.onStage((transaction) => void this.pending.push({ transaction }));
    store.onDrop((transaction) => this.settle(transaction));
    store.onCommit((transaction) => this.apply(transaction));
  }

  /**
   * Returns a stream of the postings of a list, in the state of a snapshot taken in the same turn. Cached lists are used only
   * without pending commits that change them, because the snapshot may or may not include those.
   */
  stream(snapshot: StoreSnapshot, ...posting: Posting): SteppedStream {
    const list = this.known(posting);
    if (list) return new ListStream(list.iris);
    this.warm(...posting);
    return snapshot.cursor(this.keys.space, ...posting);
  }

  /** Reads a list into the cache, for the next request. */
  warm(...posting: Posting): void {
    this.obtain(posting).catch(() => {});
  }

  /**
   * Returns the postings of a list in the state of a snapshot taken in the same turn, and caches them: reading a list once for both takes
   * half of the time. The array is never modified. `undefined`: the list is too long
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

  /** Returns the postings of a cached list, in the state of a snapshot taken in the same turn. The array is never modified. */
  cached(...posting: Posting): readonly string[] | undefined {
    return this.known(posting)?.iris;
  }

  /**
   * Returns the resources that have a posting of every group, in the state of a snapshot taken in the same turn. A repeated filter
   * is not merged again. `undefined` if a list is not cached.
   */
  matches(groups: readonly (readonly Posting[])[]): Promise<readonly string[]> | undefined {
    const found = this.find(groups);
    return found && this.merge(found);
  }

  /** True if `matches` would merge long lists. */
  isLong(groups: readonly (readonly Posting[])[]): boolean {
    const found = this.find(groups);
    if (!found || this.result(found)) return false;
    return found.groups.flat().reduce((sum, { iris }) => sum + iris.length, 0) > longMerge;
  }

  /** Returns the lists of a filter, without repeated postings and groups, and independent of their order. */
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

  /** Returns the result of a filter if it needs no merge. */
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
   * Pending transactions, with the prefixes of the lists that they change once a request asked for them: writes must be cheap. Not a
   * `Map`, whose earlier tables keep transactions alive until the next full garbage collection. They settle in order, so that
   * `settle` finds them at the beginning.
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

  /** Index of the end of the list's parts in a key. */
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

  /** Reads a list into the cache. */
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
      // A slice would hold the whole key in memory. Strings parsed from JSON do not.
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
      // A list that is not requested any more does not collect changes for long.
      if (list && list.changes.size > 100 + list.iris.length / 10) this.lists.delete(prefix);
    }
  }
}

/** Estimates the memory of a list from its first and last text. Reading all of them would cost more than the cache saves. */
const bytesOf = (key: string, iris: readonly string[]): number =>
  Math.ceil(
    100 + 2 * key.length + iris.length * (24 + ((iris[0]?.length ?? 0) + (iris[iris.length - 1]?.length ?? 0)) / 2),
  );

const distinct = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Maximum number of arguments of a call. */
const maxArguments = 10_000;

/** Returns a new list, because running searches continue with the old one. */
function changed(iris: readonly string[], changes: ReadonlyMap<string, boolean>): readonly string[] {
  const [parts, list]: [(readonly string[])[], ListStream] = [[], new ListStream(iris)];
  let at = 0;
  for (const iri of [...changes.keys()].sort()) {
    const next = list.indexOf(iri);
    parts.push(iris.slice(at, next), changes.get(iri) ? [iri] : []);
    at = iris[next] === iri ? next + 1 : next;
  }
  parts.push(iris.slice(at));
  // `concat` copies memory. `flat` would take 20 ms for 250 000 IRIs.
  const batches: string[][] = [];
  for (let from = 0; from < parts.length; from += maxArguments)
    batches.push(([] as string[]).concat(...parts.slice(from, from + maxArguments)));
  return ([] as string[]).concat(...batches);
}
