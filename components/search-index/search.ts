/**
 * Answers from the index, over what the caller may read now. It must not know HTTP.
 */
import type { ReadScope } from '../../lib/authorization/authorizer.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import type { SortedStream } from '../../lib/storage/entry-cursor.js';
import { RangeStream } from '../../lib/storage/iri-ranges.js';
import { entryRange, type ResourceRecord } from '../../lib/storage/records.js';
import { StoreSnapshot } from '../../lib/storage/snapshot.js';
import type { Filter } from './filter.js';
import { intersection, union } from './merge.js';
import type { PostingLists } from './posting-lists.js';
import { ownedSpace, postingSpace, typeRelation } from './postings.js';

/** One page of an answer. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Of all pages, in the caller's view. */
  readonly total: number;
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

/** The resources that match a filter and that the caller may read, in the order of their IRIs. */
export async function search(
  house: House,
  lists: PostingLists,
  access: Access,
  filter: Filter,
  from: number,
  count: number,
): Promise<Page<ResourceRecord>> {
  const scope = await house.authorizer.readScope(access);
  if (scope === 'nothing') return { items: [], total: 0 };
  return onSnapshot(house, async (snapshot) => {
    const iris: string[] = [];
    let total = 0;
    for await (const block of intersection(streamsOf(lists, snapshot, filter, scope))) {
      const readable = scope === 'decide' ? await readableOf(house, access, block) : block;
      if (iris.length < count && total + readable.length > from)
        iris.push(...readable.slice(Math.max(0, from - total), from + count - total));
      total += readable.length;
    }
    const records = await snapshot.records(iris);
    return { items: records.filter((record) => record !== undefined), total };
  });
}

function streamsOf(
  lists: PostingLists,
  snapshot: StoreSnapshot,
  filter: Filter,
  scope: ReadScope,
): readonly SortedStream[] {
  const streams: SortedStream[] = [];
  // What somebody owns is mostly less than what has a type, and the first stream leads.
  const readable = typeof scope === 'object' ? readableStreams(snapshot, scope) : [];
  if (typeof scope === 'object' && scope.ranges.length === 0) streams.push(...readable);
  for (const { relation, values } of filter)
    streams.push(union(values.map((value) => lists.stream(snapshot, relation, value))));
  if (streams.length === 0) streams.push(everything(snapshot));
  if (typeof scope === 'object' && scope.ranges.length > 0) streams.push(union(readable));
  return streams;
}

type Readable = Extract<ReadScope, object>;

/** What somebody owns, and what lies in the ranges; ranges name no resources and are of use beside other streams only. */
const readableStreams = (snapshot: StoreSnapshot, { owner, ranges }: Readable): readonly SortedStream[] => [
  ...(owner === undefined ? [] : [snapshot.cursor(ownedSpace, owner)]),
  ...(ranges.length > 0 ? [new RangeStream(ranges)] : []),
];

/** Every resource has exactly one structural type. */
const everything = (snapshot: StoreSnapshot): SortedStream =>
  union([lws.Container, lws.DataResource].map((type) => snapshot.cursor(postingSpace, typeRelation, type)));

async function readableOf(
  { authorizer, store }: House,
  access: Access,
  iris: readonly string[],
): Promise<readonly string[]> {
  const readable: string[] = [];
  for (const iri of iris) {
    const answer = authorizer.allows({ view: store, access, mode: 'read', iri });
    // Most decisions are made at once, and a promise for each would cost more than they do.
    if (typeof answer === 'boolean' ? answer : await answer) readable.push(iri);
  }
  return readable;
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
