/** Searches in the index, over what the caller may read now, through the query engine. */

import type { ResourceRecord } from '../../lib/component/entries.js';
import { contextOf, loadAlgebraFactory, loadQueryEngine } from '../../lib/component/query.js';
import type { Filter } from './filter.js';
import { algebraOfFilter, indexGraph } from './filter-algebra.js';
import { indexSource, type ResourceStream, type SearchedIndex } from './index-source.js';

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
  const scope = await index.platform.authorizer.readScope(index.access);
  if (scope === 'nothing') return { items: [], total: 0 };
  const source = indexSource(index, scope);
  try {
    const operation = algebraOfFilter(factory, filter, indexGraph(index.platform));
    const stream = (await engine.queryBindings(operation, contextOf(source, index.platform.rootIri))) as ResourceStream;
    const iris: string[] = [];
    let total = 0;
    for await (const block of stream.blocks()) {
      if (iris.length < count && total + block.length > from)
        iris.push(...block.slice(Math.max(0, from - total), from + count - total));
      total += block.length;
    }
    return { items: await source.records(iris), total };
  } finally {
    await source.close();
  }
}
