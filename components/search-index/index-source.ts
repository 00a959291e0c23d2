/**
 * The index as a query source of Comunica's: it answers patterns by ordered postings, and their joins and unions by merges, over
 * what the caller may read.
 */
import { DataFactory } from 'rdf-data-factory';
import type { Access, ReadScope } from '../../lib/component/access.js';
import type { Platform } from '../../lib/component/basics.js';
import { entryKey, type ResourceRecord } from '../../lib/component/entries.js';
import { ownStatements, subjectRange } from '../../lib/component/graphs.js';
import { RangeStream, type SortedStream } from '../../lib/component/level.js';
import {
  type Algebra,
  BlockStream,
  type IQuerySource,
  makeBindings,
  wholeOperations,
} from '../../lib/component/query.js';
import { structuralType } from '../../lib/component/resources.js';
import { StoreSnapshot } from '../../lib/component/store.js';
import { lws } from '../../lib/component/vocabulary.js';
import { relationOfPattern, resourceVariable } from './filter-algebra.js';
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
      // In one turn: lists in memory are of the state that is committed now.
      snapshot = new StoreSnapshot(platform.store.level);
      const stream: ResourceStream = new BlockStream(
        found(streamsOf(operation, { lists, snapshot, scope })),
        bindingsOf,
      );
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

interface Searched {
  readonly lists: PostingLists;
  readonly snapshot: StoreSnapshot;
  readonly scope: ReadScope;
}

/** What an operation finds of what may be read, as streams that have to agree. */
function streamsOf(operation: Algebra.Operation, searched: Searched): readonly SortedStream[] {
  const { snapshot, scope } = searched;
  const readable = typeof scope === 'object' ? readableStreams(snapshot, scope) : [];
  const hasRanges = typeof scope === 'object' && scope.ranges.length > 0;
  // What somebody owns is mostly less than what has a type, and the first stream leads.
  const found = [...(hasRanges ? [] : readable), ...matching(operation, searched)];
  const streams = found.length > 0 ? found : [everything(snapshot)];
  return hasRanges ? [...streams, union(readable)] : streams;
}

/** The resources that an operation finds, as streams that have to agree; none: all. @throws Error for what the index does not answer */
function matching(operation: Algebra.Operation, searched: Searched): readonly SortedStream[] {
  const { type, input } = operation as { readonly type: string; readonly input: Algebra.Operation[] };
  // Streams are in order, and name a resource once.
  if (['distinct', 'project', 'orderby'].includes(type)) return matching(input as never, searched);
  if (type === 'join') return input.flatMap((each) => matching(each, searched));
  if (type === 'union') return [union(input.map((each) => postings(each, searched)))];
  return (operation as Algebra.Pattern).object?.termType === 'Variable' ? [] : [postings(operation, searched)];
}

/** The postings that answer a pattern of the index graph. */
function postings(operation: Algebra.Operation, { lists, snapshot }: Searched): SortedStream {
  if (operation.type !== 'pattern') throw new Error(`The index answers no ${operation.type}.`);
  const { predicate, object } = operation as Algebra.Pattern;
  return lists.stream(snapshot, relationOfPattern(predicate.value), object.value);
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
