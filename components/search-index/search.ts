/**
 * Answers from the index, over what the caller may read now. It must not know HTTP.
 */
import type { ReadScope } from '../../lib/authorization/authorizer.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { loadAlgebraFactory } from '../../lib/query/algebra.js';
import { contextOf, loadQueryEngine } from '../../lib/query/query-engine.js';
import type { SortedStream } from '../../lib/storage/entry-cursor.js';
import { RangeStream } from '../../lib/storage/iri-ranges.js';
import { entryRange, type ResourceRecord } from '../../lib/storage/records.js';
import { StoreSnapshot } from '../../lib/storage/snapshot.js';
import type { Filter } from './filter.js';
import { algebraOfFilter, indexGraph } from './filter-algebra.js';
import { indexSource, type ResourceStream, readableOf, type SearchedIndex } from './index-source.js';
import { intersection } from './merge.js';
import { ownedSpace, postingSpace, typeRelation } from './postings.js';

/** One page of an answer. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Of all pages, in the caller's view. */
  readonly total: number;
}

export interface PageRange {
  /** Items before the page. */
  readonly from: number;
  readonly count: number;
}

/** The resources that match a filter and that the caller may read, in the order of their IRIs. */
export async function search(
  index: SearchedIndex,
  filter: Filter,
  { from, count }: PageRange,
): Promise<Page<ResourceRecord>> {
  const [engine, factory] = [await loadQueryEngine(), await loadAlgebraFactory()];
  const scope = await index.house.authorizer.readScope(index.access);
  if (scope === 'nothing') return { items: [], total: 0 };
  const source = indexSource(index, scope);
  try {
    const operation = algebraOfFilter(factory, filter, indexGraph(index.house));
    const stream = (await engine.queryBindings(operation, contextOf(source, index.house.storage))) as ResourceStream;
    const iris: string[] = [];
    let total = 0;
    for await (const block of stream.blocks()) {
      if (iris.length < count && total + block.length > from)
        iris.push(...block.slice(Math.max(0, from - total), from + count - total));
      total += block.length;
    }
    const records = await source.records(iris);
    return { items: records.filter((record) => record !== undefined), total };
  } finally {
    await source.close();
  }
}

/** Runs `read` on one state of the store. */
async function onSnapshot<T>({ store }: House, read: (snapshot: StoreSnapshot) => Promise<T>): Promise<T> {
  const snapshot = new StoreSnapshot(store.level);
  try {
    return await read(snapshot);
  } finally {
    await snapshot.close();
  }
}

/** The distinct types of the resources that the caller may read, in order. */
export async function typesOf(house: House, access: Access): Promise<readonly string[]> {
  const scope = await house.authorizer.readScope(access);
  if (scope === 'nothing') return [];
  return onSnapshot(house, async (snapshot) => {
    const types = new Set<string>();
    if (typeof scope === 'object' && scope.owner !== undefined) await collectOwned(snapshot, scope.owner, types);
    if (typeof scope !== 'object' || scope.ranges.length > 0)
      for await (const type of snapshot.distinct(postingSpace, typeRelation))
        if (scope === 'everything' || types.has(type) || (await anyReadable(house, access, scope, snapshot, type)))
          types.add(type);
    return [...types].sort();
  });
}

/** What somebody owns is listed with its types, and many resources have the same ones. */
async function collectOwned(snapshot: StoreSnapshot, owner: string, types: Set<string>): Promise<void> {
  const seen = new Set<string>();
  for await (const entries of snapshot.entries(entryRange(ownedSpace, owner)))
    for (const [, value] of entries) {
      if (seen.has(value)) continue;
      seen.add(value);
      for (const type of JSON.parse(value) as string[]) types.add(type);
    }
}

/** Whether the caller may read any resource of a type; what it may not read is leapt over. */
async function anyReadable(
  house: House,
  access: Access,
  scope: ReadScope,
  snapshot: StoreSnapshot,
  type: string,
): Promise<boolean> {
  const streams: SortedStream[] = [snapshot.cursor(postingSpace, typeRelation, type)];
  if (typeof scope === 'object') streams.push(new RangeStream(scope.ranges));
  for await (const block of intersection(streams, 20)) {
    const readable = scope === 'decide' ? await readableOf(house, access, block) : block;
    if (readable.length > 0) return true;
  }
  return false;
}
