/** Filters of the type search, as query parameters and as a document: AND of groups, OR within a group (rule 13.4). */

import type { Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Platform } from '../../../lib/component/contract.js';
import type { Algebra, AlgebraFactory } from '../../../lib/query/algebra.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';
import { rdf } from '../../../lib/rdf/vocabulary.js';
import { registered, searchedRelation } from '../../../lib/resources/linkset.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { typeRelation } from './postings.js';

/** Group of a filter: matches resources that have the relation to any of the values. */
interface FilterGroup {
  readonly relation: string;
  readonly values: readonly string[];
}

/** Groups, joined by AND. An empty filter matches everything. */
export type Filter = readonly FilterGroup[];

const maxGroups = 32;
const maxValues = 256;

/** Parses query parameters. `page` is ignored, each other parameter is a group. @throws LwsError `malformed-filter` */
export function filterOfQuery(parameters: URLSearchParams): Filter {
  const filter = [...parameters].filter(([key]) => key !== 'page').map(([key, value]) => group(key, value.split(',')));
  return bounded(filter, 'malformed-filter');
}

/**
 * Parses a filter document. Members that begin with `@` are JSON-LD keywords and ignored. Other members are relations with an
 * array of values (AND), each an IRI or an array of IRIs (OR). @param refusal error code for a filter that is too complex
 * @throws LwsError `malformed-filter`, or `refusal`
 */
export function filterOfDocument(document: unknown, refusal: 'malformed-filter' | 'too-complex'): Filter {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw malformed('It must be an object with relations as members.');
  const filter = Object.entries(document)
    .filter(([key]) => !key.startsWith('@'))
    .flatMap(([key, value]: [string, unknown]) => {
      if (!Array.isArray(value)) throw malformed(`The value of "${key.slice(0, 100)}" must be an array.`);
      return value.map((element: unknown) => group(key, Array.isArray(element) ? element : [element]));
    });
  return bounded(filter, refusal);
}

function group(key: string, values: readonly unknown[]): FilterGroup {
  if (!isAbsoluteIri(key) && !/^[A-Za-z][A-Za-z0-9.-]*$/.test(key))
    throw malformed(`"${key.slice(0, 100)}" must be "type", the name of a relation, or an absolute IRI.`);
  if (values.length === 0) throw malformed(`A group of "${key.slice(0, 100)}" is empty and cannot match.`);
  for (const value of values)
    if (typeof value !== 'string' || !isAbsoluteIri(value))
      throw malformed(
        `The value ${String(JSON.stringify(value)).slice(0, 100)} of "${key.slice(0, 100)}" must be an absolute IRI.`,
      );
  return { relation: searchedRelation(key), values: [...new Set(values as string[])] };
}

function bounded(filter: Filter, refusal: 'malformed-filter' | 'too-complex'): Filter {
  const values = filter.reduce((sum, group) => sum + group.values.length, 0);
  if (filter.length > maxGroups || values > maxValues)
    throw new LwsError(
      refusal,
      `The filter has ${filter.length} groups with ${values} values. The maximum is ${maxGroups} groups and ${maxValues} values.`,
    );
  return filter;
}

const malformed = (detail: string): LwsError => new LwsError('malformed-filter', `The filter is not valid. ${detail}`);

/** Returns the filter as query parameters for page links, or `undefined` if it cannot be expressed in a GET. */
export function queryOfFilter(filter: Filter): string | undefined {
  const isSayable = filter.every(({ relation, values }) => relation !== 'page' && !values.join('').includes(','));
  if (!isSayable) return undefined;
  return filter.map(({ relation, values }) => `${encode(relation)}=${encode(values.join(','))}`).join('&');
}

/** Percent-encodes, except for characters that a query may contain unescaped (RFC 3986 3.4). */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/%(?:2C|2F|3A|3B|3F|40|24)/g, (escaped) => decodeURIComponent(escaped));

const factory = new DataFactory();
export const resourceVariable = factory.variable('resource');
const anyType = factory.variable('type');

/** Predicate that matches nothing: it is not an IRI, so no relation can have this name. */
const notIndexed = 'not indexed';

/** Returns the predicate of a relation in the index graph: its IRI, or the IANA IRI of a registered name. */
export function predicateOf(relation: string): string {
  // Types are searched by the relation `type`, and registered relations by name. Their IRIs are not indexed as relations.
  if (relation === rdf.type || relation.startsWith(registered)) return notIndexed;
  if (relation === typeRelation) return rdf.type;
  return relation.includes(':') ? relation : registered + relation;
}

/** Returns the relation in the postings for a predicate of the index graph. */
export function relationOfPattern(predicate: string): string {
  if (predicate === rdf.type) return typeRelation;
  return predicate.startsWith(registered) ? predicate.slice(registered.length) : predicate;
}

/** Returns the IRI of the index graph: the URL of the type index. */
export const indexGraph = ({ baseUri, systemPrefix }: Pick<Platform, 'baseUri' | 'systemPrefix'>): string =>
  `${baseUri}${systemPrefix}/type-index`;

/** Returns the algebra of `SELECT DISTINCT ?resource { GRAPH <index> {...} } ORDER BY ?resource`, with the index as graph. */
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
