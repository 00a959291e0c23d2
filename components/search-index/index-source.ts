/**
 * The index as a query source of Comunica's: it answers the algebra of a filter as a merge of ordered postings, over what the caller may
 * read.
 */
import { DataFactory } from 'rdf-data-factory';
import type { Access, ReadScope } from '../../lib/component/access.js';
import type { Platform } from '../../lib/component/basics.js';
import { entryKey, type ResourceRecord } from '../../lib/component/entries.js';
import { ownStatements, subjectRange } from '../../lib/component/graphs.js';
import { RangeStream, type SortedStream } from '../../lib/component/level.js';
import { BlockStream, type IQuerySource, makeBindings, wholeOperations } from '../../lib/component/query.js';
import { structuralType } from '../../lib/component/resources.js';
import { StoreSnapshot } from '../../lib/component/store.js';
import { lws } from '../../lib/component/vocabulary.js';
import type { Filter } from './filter.js';
import { filterOfAlgebra, resourceVariable } from './filter-algebra.js';
import { intersection, union } from './merge.js';
import type { PostingLists } from './posting-lists.js';
import { ownedSpace, postingSpace, relationOf, typeRelation } from './postings.js';
import { readableOf } from './readable.js';

/** The index, and who searches it. */
export interface SearchedIndex {
  readonly platform: Platform;
  readonly lists: PostingLists;
  readonly access: Access;
}

/** IRIs in blocks, in order. */
export type ResourceStream = BlockStream<readonly string[], unknown>;

export interface IndexSource extends IQuerySource {
  /** The records of the state that was asked, with all of their types (rule 1.2), as far as a page has room for them. */
  records(iris: readonly string[]): Promise<ResourceRecord[]>;
  close(): Promise<void>;
}

/** A source for one search. @param scope what the caller may read */
export function indexSource({ platform, lists, access }: SearchedIndex, scope: ReadScope): IndexSource {
  let snapshot: StoreSnapshot | undefined;
  async function* found(streams: readonly SortedStream[]): AsyncGenerator<readonly string[]> {
    for await (const block of intersection(streams))
      yield scope === 'decide' ? await readableOf(platform, access, block) : block;
  }
  return {
    referenceValue: 'urn:quadpod:index',
    getFilterFactor: async () => 1,
    getSelectorShape: async () => wholeOperations,
    queryBindings(operation) {
      const filter = filterOfAlgebra(operation);
      // In one turn: lists in memory are of the state that is committed now.
      snapshot = new StoreSnapshot(platform.store.level);
      const stream: ResourceStream = new BlockStream(found(streamsOf(lists, snapshot, { filter, scope })), bindingsOf);
      return stream.announce([resourceVariable]) as never;
    },
    queryBoolean: bindingsAlone,
    queryQuads: bindingsAlone,
    queryVoid: bindingsAlone,
    toString: () => 'index',
    records: (iris) => typedRecords(snapshot!, iris),
    close: async () => snapshot?.close(),
  };
}

/** Characters of types that a page shows: a resource may have ten thousand. Those after them show what was declared. */
const maxCharacters = 1 << 20;

async function typedRecords(snapshot: StoreSnapshot, iris: readonly string[]): Promise<ResourceRecord[]> {
  const records = (await snapshot.records(iris)).filter((record) => record !== undefined);
  const owned = await snapshot.values(records.map(({ owner = '', iri }) => entryKey(ownedSpace, owner, iri)));
  const typed: ResourceRecord[] = [];
  let characters = 0;
  for (const [index, record] of records.entries()) {
    const [structural, known] = [structuralType(record.kind), owned[index]];
    const types = known === undefined ? await typesWithout(snapshot, record) : (JSON.parse(known) as string[]);
    characters += types.reduce((sum, { length }) => sum + length, 0);
    typed.push(characters > maxCharacters ? record : { ...record, types: types.filter((type) => type !== structural) });
  }
  return typed;
}

/** The types of what nobody owns, which has no entry with all of them. */
async function typesWithout(snapshot: StoreSnapshot, { iri, kind, types }: ResourceRecord): Promise<string[]> {
  const found = new Set(types);
  if (kind === 'rdf')
    for await (const statements of ownStatements(iri, snapshot.keys(subjectRange(iri, iri))))
      for (const statement of statements) if (relationOf(statement) === typeRelation) found.add(statement[1]);
  return [...found];
}

const factory = new DataFactory();
const bindingsOf = (iris: readonly string[]): readonly unknown[] =>
  iris.map((iri) => makeBindings([[resourceVariable, factory.namedNode(iri)]]));

const bindingsAlone = (): never => {
  throw new Error('The index is asked for resources.');
};

function streamsOf(
  lists: PostingLists,
  snapshot: StoreSnapshot,
  { filter, scope }: { readonly filter: Filter; readonly scope: ReadScope },
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
