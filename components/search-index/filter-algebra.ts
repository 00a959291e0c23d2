/** The filter of a search as SPARQL algebra over the index graph: AND is a join, OR a union of patterns (rule 13.4). Pure. */
import type { Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { Platform } from '../../lib/component/basics.js';
import type { Algebra, AlgebraFactory } from '../../lib/component/query.js';
import { registered } from '../../lib/component/resources.js';
import { rdf } from '../../lib/component/vocabulary.js';
import type { Filter, FilterGroup } from './filter.js';
import { typeRelation } from './postings.js';

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
