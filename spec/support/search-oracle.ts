/** Oracle of type search: evaluates the same algebra with Comunica's stock engine over the postings as plain quads. */
import { Readable } from 'node:stream';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import {
  algebraOfFilter,
  type Filter,
  indexGraph,
  predicateOf,
  relationOfPattern,
} from '../../components/search/type-index/filter.js';
import { postingSpace } from '../../components/search/type-index/postings.js';
import type { Access } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import { loadAlgebraFactory } from '../../lib/query/algebra.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/keys/records.js';
import { loadStockEngine } from './stock-engine.js';

/** Returns the matching resources that the caller may read, in order. */
export async function searchBySparql(platform: Platform, access: Access, filter: Filter): Promise<string[]> {
  const engine = await loadStockEngine();
  const source = { match: (...terms: (Term | undefined)[]) => Readable.from(quadsOf(platform, access, terms)) };
  const operation = algebraOfFilter(await loadAlgebraFactory(), filter, indexGraph(platform));
  const bindings = await engine.queryBindings(operation as never, { sources: [source] } as never);
  const found: string[] = [];
  for await (const binding of bindings) found.push(binding.get('resource')!.value);
  return found.sort();
}

const factory = new DataFactory<Quad>();

/** Yields the postings of readable resources as quads. */
async function* quadsOf(
  platform: Platform,
  access: Access,
  [subject, predicate, object, graph]: readonly (Term | undefined)[],
): AsyncGenerator<Quad> {
  if (iriOf(graph) !== indexGraph(platform)) return;
  for await (const [relation, value, iri] of postings(platform, iriOf(predicate), iriOf(object), iriOf(subject))) {
    const record = platform.store.record(iri);
    if (!record || !(await platform.authorizer.allows({ view: platform.store, access, mode: 'read', iri, record })))
      continue;
    yield factory.quad(
      factory.namedNode(iri),
      factory.namedNode(predicateOf(relation)),
      factory.namedNode(value),
      graph as never,
    );
  }
}

const iriOf = (term: Term | undefined): string | undefined =>
  term && term.termType !== 'Variable' ? term.value : undefined;

type Posting = readonly [relation: string, value: string, iri: string];

async function* postings(
  { store }: Platform,
  predicate: string | undefined,
  object: string | undefined,
  subject: string | undefined,
): AsyncGenerator<Posting> {
  const parts =
    predicate === undefined
      ? []
      : object === undefined
        ? [relationOfPattern(predicate)]
        : [relationOfPattern(predicate), object];
  if (parts.length === 2 && subject !== undefined) {
    if (store.entry(entryKey(postingSpace, ...parts, subject)) !== undefined) yield [parts[0]!, parts[1]!, subject];
    return;
  }
  for await (const entries of store.entries(entryRange(postingSpace, ...parts)))
    for (const [key] of entries) {
      const [, relation, value, iri] = partsOfEntry(key) as [string, string, string, string];
      if ((object ?? value) === value && (subject ?? iri) === iri) yield [relation, value, iri];
    }
}
