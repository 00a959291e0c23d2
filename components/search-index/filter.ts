/** Filters of the type search: AND over groups, OR within a group, as query parameters and as a document (rule 13.4). Pure. */

import type { Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import type { Algebra, AlgebraFactory } from '../../lib/query/algebra.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { rdf } from '../../lib/rdf/vocabulary.js';
import { registered, searchedRelation } from '../../lib/resources/linkset.js';
import { typeRelation } from './postings.js';

/** Resources that have the relation to any of the values. */
interface FilterGroup {
  readonly relation: string;
  readonly values: readonly string[];
}

/** All groups have to hold; none: everything. */
export type Filter = readonly FilterGroup[];

const maxGroups = 32;
const maxValues = 256;

/** `page` is the page, every other parameter a group. @throws LwsError `malformed-filter` */
export function filterOfQuery(parameters: URLSearchParams): Filter {
  const filter = [...parameters].filter(([key]) => key !== 'page').map(([key, value]) => group(key, value.split(',')));
  return bounded(filter, 'malformed-filter');
}

/**
 * Members that begin with `@` are JSON-LD's and not looked at; the others are relations with an array of values (AND),
 * each an IRI or an array of IRIs (OR).
 * @param refusal how a filter that is too complex is refused
 * @throws LwsError `malformed-filter`, or `refusal`
 */
export function filterOfDocument(document: unknown, refusal: 'malformed-filter' | 'too-complex'): Filter {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw malformed('It is an object with relations as members.');
  const filter = Object.entries(document)
    .filter(([key]) => !key.startsWith('@'))
    .flatMap(([key, value]: [string, unknown]) => {
      if (!Array.isArray(value)) throw malformed(`The value of "${key.slice(0, 100)}" is no array.`);
      return value.map((element: unknown) => group(key, Array.isArray(element) ? element : [element]));
    });
  return bounded(filter, refusal);
}

function group(key: string, values: readonly unknown[]): FilterGroup {
  if (!isAbsoluteIri(key) && !/^[A-Za-z][A-Za-z0-9.-]*$/.test(key))
    throw malformed(`"${key.slice(0, 100)}" is neither "type", nor the name of a relation, nor an absolute IRI.`);
  if (values.length === 0) throw malformed(`A group of "${key.slice(0, 100)}" is empty and could match nothing.`);
  for (const value of values)
    if (typeof value !== 'string' || !isAbsoluteIri(value))
      throw malformed(
        `The value ${String(JSON.stringify(value)).slice(0, 100)} of "${key.slice(0, 100)}" is not an absolute IRI.`,
      );
  return { relation: searchedRelation(key), values: [...new Set(values as string[])] };
}

function bounded(filter: Filter, refusal: 'malformed-filter' | 'too-complex'): Filter {
  const values = filter.reduce((sum, group) => sum + group.values.length, 0);
  if (filter.length > maxGroups || values > maxValues)
    throw new LwsError(
      refusal,
      `The filter has ${filter.length} groups with ${values} values; ${maxGroups} groups and ${maxValues} values are possible.`,
    );
  return filter;
}

const malformed = (detail: string): LwsError =>
  new LwsError('malformed-filter', `The filter cannot be read. ${detail}`);

/** The filter as query parameters, for page links; `undefined` when GET cannot say it. */
export function queryOfFilter(filter: Filter): string | undefined {
  const isSayable = filter.every(({ relation, values }) => relation !== 'page' && !values.join('').includes(','));
  if (!isSayable) return undefined;
  return filter.map(({ relation, values }) => `${encode(relation)}=${encode(values.join(','))}`).join('&');
}

/** What a query may hold as it is stays readable, and short (RFC 3986 3.4). */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/%(?:2C|2F|3A|3B|3F|40|24)/g, (escaped) => decodeURIComponent(escaped));

const factory = new DataFactory();
export const resourceVariable = factory.variable('resource');
const anyType = factory.variable('type');

/** No IRI, so that nobody can have a relation of that name. */
const notIndexed = 'not indexed';

/** A relation as the predicate of the index graph: an RDF link relation, or the registered name as IANA's IRI. */
export function predicateOf(relation: string): string {
  // The key rdf:type is no type, and a registered relation is searched by its name: neither is indexed.
  if (relation === rdf.type || relation.startsWith(registered)) return notIndexed;
  if (relation === typeRelation) return rdf.type;
  return relation.includes(':') ? relation : registered + relation;
}

/** The relation that postings have for a predicate of the index graph. */
export function relationOfPattern(predicate: string): string {
  if (predicate === rdf.type) return typeRelation;
  return predicate.startsWith(registered) ? predicate.slice(registered.length) : predicate;
}

/** The name of the index graph: the type index itself. */
export const indexGraph = ({ baseUri, systemPrefix }: Pick<Platform, 'baseUri' | 'systemPrefix'>): string =>
  `${baseUri}${systemPrefix}/type-index`;

/** `SELECT DISTINCT ?resource { GRAPH <index> {...} } ORDER BY ?resource`, the index being a graph. */
export function algebraOfFilter(make: AlgebraFactory, filter: Filter, index: string): Algebra.Operation {
  const graph = factory.namedNode(index);
  const pattern = (predicate: string, object: Term): Algebra.Operation =>
    make.createPattern(resourceVariable, factory.namedNode(predicate), object, graph);
  const group = ({ relation, values }: FilterGroup): Algebra.Operation => {
    const patterns = values.map((value) => pattern(predicateOf(relation), factory.namedNode(value)));
    return patterns.length === 1 ? patterns[0]! : make.createUnion(patterns as never);
  };
  const groups = filter.length > 0 ? filter.map(group) : [pattern(rdf.type, anyType)];
  const join = groups.length === 1 ? groups[0]! : make.createJoin(groups as never);
  const ordered = make.createOrderBy(join as never, [make.createTermExpression(resourceVariable)]);
  return make.createDistinct(make.createProject(ordered, [resourceVariable]));
}
