/**
 * Searches the type index over readable resources with the query engine. The index is a Comunica query source: it evaluates
 * patterns by ordered postings, joins and unions by merges.
 */
import { DataFactory } from 'rdf-data-factory';
import type { ReadScope } from '../../../lib/authorization/authorizer.js';
import { inTurn } from '../../../lib/authorization/decision-turns.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { type Algebra, loadAlgebraFactory } from '../../../lib/query/algebra.js';
import { BlockStream } from '../../../lib/query/block-stream.js';
import { contextOf, loadQueryEngine } from '../../../lib/query/query-engine.js';
import { makeBindings, querySource } from '../../../lib/query/query-source.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { structuralType } from '../../../lib/resources/types.js';
import type { Paging } from '../../../lib/resources/visible-members.js';
import { subjectRange } from '../../../lib/storage/graphs/committed-graphs.js';
import { StoreSnapshot } from '../../../lib/storage/graphs/snapshot.js';
import type { IriRange } from '../../../lib/storage/keys/iri-ranges.js';
import { entryKey, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { ownStatements } from '../../../lib/storage/keys/subject-statements.js';
import { ListStream, type SortedStream } from '../../../lib/storage/level/entry-cursor.js';
import { intersection, union } from '../postings/merge.js';
import type { PostingLists } from '../postings/posting-lists.js';
import { rangesOf, readableOf, readableStreams } from '../postings/readable.js';
import {
  algebraOfFilter,
  type Filter,
  indexGraph,
  predicateOf,
  relationOfPattern,
  resourceVariable,
} from './filter.js';
import { ownedSpace, relationOf, typeRelation } from './postings.js';

/** The index, and the caller of the search. */
export interface SearchedIndex {
  readonly platform: Platform;
  readonly lists: PostingLists;
  readonly access: Access;
}

/** IRIs in order, in blocks. */
type ResourceStream = BlockStream<readonly string[], unknown>;

interface Found {
  readonly items: readonly ResourceRecord[];
  readonly total: number;
}

/**
 * Returns the readable resources that match a filter, ordered by IRI, with all of their types (rule 1.2).
 * @param wanted position and count of the results on the page
 * @returns the page, and the total count of readable results
 */
export async function searchTypes(index: SearchedIndex, filter: Filter, wanted: Paging): Promise<Found> {
  const { platform, lists, access } = index;
  const scope = await platform.authorizer.readScope(access);
  const isLong = scope === 'decide' || (rangesOf(scope) !== undefined && lists.isLong(postingsOf(filter)));
  if (!isLong) return searchWithin(index, scope, { filter, ...wanted });
  // Evaluate the scope again after waiting, so that earlier revocations apply.
  return inTurn(platform, access, async () =>
    searchWithin(index, await platform.authorizer.readScope(access), { filter, ...wanted }),
  );
}

type Asked = Paging & { readonly filter: Filter };

async function searchWithin(index: SearchedIndex, scope: ReadScope, asked: Asked): Promise<Found> {
  if (scope === 'nothing') return { items: [], total: 0 };
  const ranges = rangesOf(scope);
  return (ranges && searchLists(index, ranges, asked)) ?? searchBySource(index, scope, asked);
}

type Postings = readonly (readonly (readonly [relation: string, value: string])[])[];

/** Searches the cached lists. Returns `undefined` if a list is not cached. */
function searchLists(
  { platform, lists }: SearchedIndex,
  ranges: readonly IriRange[],
  { filter, ...wanted }: Asked,
): Promise<Found> | undefined {
  const known = lists.matches(postingsOf(filter));
  if (!known) return undefined;
  const snapshot = new StoreSnapshot(platform.store.level);
  const page = async (): Promise<Found> => {
    const { iris, total } = within(await known, ranges, wanted);
    return { items: await typedRecords(snapshot, iris), total };
  };
  return page().finally(() => snapshot.close());
}

/** Searches with the query engine, which reads all matches. */
async function searchBySource(index: SearchedIndex, scope: ReadScope, { filter, from, count }: Asked): Promise<Found> {
  const { platform, lists } = index;
  const [engine, factory] = [await loadQueryEngine(), await loadAlgebraFactory()];
  const opened: StoreSnapshot[] = [];
  const source = querySource('index', {
    queryBindings(asked) {
      // Open the snapshot synchronously with the lists: cached lists have the state of the last commit.
      const snapshot = new StoreSnapshot(platform.store.level);
      opened.push(snapshot);
      const found = readableBlocks(index, scope, streamsOf(asked, { lists, snapshot, scope }));
      return new BlockStream(found, bindingsOf).announce([resourceVariable]) as never;
    },
  });
  try {
    const operation = algebraOfFilter(factory, filter, indexGraph(platform));
    const stream = (await engine.queryBindings(operation, contextOf(source, platform.rootIri))) as ResourceStream;
    const iris: string[] = [];
    let total = 0;
    for await (const block of stream.blocks()) {
      if (iris.length < count && total + block.length > from)
        iris.push(...block.slice(Math.max(0, from - total), from + count - total));
      total += block.length;
    }
    return { items: await typedRecords(opened[0]!, iris), total };
  } finally {
    for (const snapshot of opened) await snapshot.close();
  }
}

/**
 * Returns the keys of the posting lists of each filter group. An empty filter matches all resources: it uses the lists of the
 * structural types, because each resource has exactly one.
 */
const postingsOf = (filter: Filter): Postings =>
  filter.length === 0
    ? [structuralTypes.map((type) => [typeRelation, type])]
    : filter.map(({ relation, values }) =>
        values.map((value) => [relationOfPattern(predicateOf(relation)), value] as const),
      );

/** Returns one page of the IRIs that are within ranges, and the total count. */
function within(
  iris: readonly string[],
  ranges: readonly IriRange[],
  { from, count }: Paging,
): { readonly iris: readonly string[]; readonly total: number } {
  const [found, list]: [string[], ListStream] = [[], new ListStream(iris)];
  let total = 0;
  for (const range of ranges) {
    const [start, end] = [list.indexOf(range.from), list.indexOf(range.to)];
    const skipped = Math.max(0, from - total);
    found.push(...iris.slice(start + skipped, Math.min(end, start + skipped + count - found.length)));
    total += end - start;
  }
  return { iris: found, total };
}

async function* readableBlocks(
  { platform, access }: SearchedIndex,
  scope: ReadScope,
  streams: readonly SortedStream[],
): AsyncGenerator<readonly string[]> {
  for await (const block of intersection(streams))
    yield scope === 'decide' ? await readableOf(platform, access, block) : block;
}

/** Maximum characters of types on a page: a resource may have 10 000 types. Other resources show declared types only. */
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

/** Returns the types of a resource without owner, for which no entry lists all types. */
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

interface Searched {
  readonly lists: PostingLists;
  readonly snapshot: StoreSnapshot;
  readonly scope: ReadScope;
}

/** Returns streams whose intersection is the readable matches of an operation. */
function streamsOf(operation: Algebra.Operation, searched: Searched): readonly SortedStream[] {
  const { snapshot, scope } = searched;
  const readable = typeof scope === 'object' ? readableStreams(snapshot, scope) : [];
  const hasRanges = typeof scope === 'object' && scope.ranges.length > 0;
  // Owned resources come first: the first stream drives the intersection, and there are usually few of them.
  const found = [...(hasRanges ? [] : readable), ...matching(operation, searched)];
  const streams = found.length > 0 ? found : [everything(searched)];
  return hasRanges ? [...streams, union(readable)] : streams;
}

/**
 * Returns streams whose intersection is the matches of an operation. An empty list matches everything.
 * @throws Error for an operation that the index does not support
 */
function matching(operation: Algebra.Operation, searched: Searched): readonly SortedStream[] {
  const { type, input } = operation as { readonly type: string; readonly input: Algebra.Operation[] };
  // Skip these operations: the streams are already ordered and without duplicates.
  if (['distinct', 'project', 'orderby'].includes(type)) return matching(input as never, searched);
  if (type === 'join') return input.flatMap((each) => matching(each, searched));
  if (type === 'union') return [union(input.map((each) => postings(each, searched)))];
  return (operation as Algebra.Pattern).object?.termType === 'Variable' ? [] : [postings(operation, searched)];
}

/** Returns the postings for a pattern of the index graph. */
function postings(operation: Algebra.Operation, { lists, snapshot }: Searched): SortedStream {
  if (operation.type !== 'pattern') throw new Error(`The index does not support ${operation.type}.`);
  const { predicate, object } = operation as Algebra.Pattern;
  return lists.stream(snapshot, relationOfPattern(predicate.value), object.value);
}

const structuralTypes = [lws.Container, lws.DataResource];

const everything = ({ lists, snapshot }: Searched): SortedStream =>
  union(structuralTypes.map((type) => lists.stream(snapshot, typeRelation, type)));
