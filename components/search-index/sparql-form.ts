/**
 * The filter as SPARQL over the index, run by Comunica: the meaning that the merge is held against, and that the
 * benchmarks compare it with; being ten to a hundred times slower it answers no request. It knows the index as quads.
 */
import { Readable } from 'node:stream';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Access } from '../../lib/authorization/principal.js';
import type { House } from '../../lib/component.js';
import { loadEngine } from '../../lib/query/parse/sparql-update.js';
import { rdf } from '../../lib/rdf/vocabulary.js';
import { entryKey, entryRange, partsOfEntry } from '../../lib/storage/records.js';
import type { Filter } from './filter.js';
import { postingSpace, typeRelation } from './postings.js';

const registered = 'http://www.iana.org/assignments/relation/';

/** A relation as the predicate of the index graph, and back. */
const predicateOf = (relation: string): string =>
  // The key rdf:type is no type, and a registered relation is searched by its name: neither is indexed.
  relation === rdf.type || relation.startsWith(registered)
    ? 'urn:x-quadpod:not-indexed'
    : relation === typeRelation
      ? rdf.type
      : relation.includes(':')
        ? relation
        : registered + relation;
const relationOf = (predicate: string): string =>
  predicate === rdf.type
    ? typeRelation
    : predicate.startsWith(registered)
      ? predicate.slice(registered.length)
      : predicate;

/** AND as a join, OR as a UNION: with FILTER IN or EXISTS the engine is twenty times slower. */
export function sparqlOfFilter(filter: Filter): string {
  const groups = filter.map(({ relation, values }) =>
    values.map((value) => `{ ?resource <${predicateOf(relation)}> <${value}> }`).join(' UNION '),
  );
  return `SELECT DISTINCT ?resource WHERE { ${groups.length > 0 ? groups.join(' ') : `?resource <${rdf.type}> ?type`} }`;
}

/** The matching resources that the caller may read, in order. */
export async function searchBySparql(house: House, access: Access, filter: Filter): Promise<string[]> {
  const engine = await loadEngine();
  const source = { match: (...terms: (Term | undefined)[]) => Readable.from(quadsOf(house, access, terms)) };
  const bindings = await engine.queryBindings(sparqlOfFilter(filter), { sources: [source as never] });
  const found: string[] = [];
  for await (const binding of bindings) found.push(binding.get('resource')!.value);
  return found.sort();
}

const factory = new DataFactory<Quad>();

/** The postings as quads; those of resources that the caller may not read do not exist. */
async function* quadsOf(
  house: House,
  access: Access,
  [subject, predicate, object]: readonly (Term | undefined)[],
): AsyncGenerator<Quad> {
  for await (const [relation, value, iri] of postings(house, iriOf(predicate), iriOf(object), iriOf(subject))) {
    const record = house.store.record(iri);
    if (!record || !(await house.authorizer.allows({ view: house.store, access, mode: 'read', iri, record }))) continue;
    yield factory.quad(factory.namedNode(iri), factory.namedNode(predicateOf(relation)), factory.namedNode(value));
  }
}

const iriOf = (term: Term | undefined): string | undefined =>
  term && term.termType !== 'Variable' ? term.value : undefined;

type Posting = readonly [relation: string, value: string, iri: string];

async function* postings(
  { store }: House,
  predicate: string | undefined,
  object: string | undefined,
  subject: string | undefined,
): AsyncGenerator<Posting> {
  const parts =
    predicate === undefined ? [] : object === undefined ? [relationOf(predicate)] : [relationOf(predicate), object];
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
