/**
 * What the index says of a resource: for each type and relation target one entry (a posting) that ends in the resource's IRI, and one below
 * its owner that lists its types. Pure.
 */

import { ldp, lws, rdf } from '../../lib/rdf/vocabulary.js';
import { type ClientLinks, declaredTypes, relationTargets, searchedRelation } from '../../lib/resources/linkset.js';
import { structuralType } from '../../lib/resources/types.js';
import { entryKey, type ResourceRecord } from '../../lib/storage/keys/records.js';
import {
  type IriStatement,
  type KeySource,
  ofShortGraph,
  ownStatements,
} from '../../lib/storage/keys/subject-statements.js';
import { ownedSpace } from '../../lib/storage/level/owned-entries.js';

/** `index`, relation, value, resource. */
export const postingSpace = 'index';
/** In its entries (`owned`, owner, resource) the value is the JSON of the resource's types. */
export {
  completeIndex as currentState,
  indexStateKey as stateKey,
  ownedSpace,
} from '../../lib/storage/level/owned-entries.js';

/** The relation of types; no relation name of a link can be it, as `type` is the types' own. */
export const typeRelation = 'type';

/** Relations of the protocol are never indexed (search rule 4). */
const structural: ReadonlySet<string> = new Set(['type', 'up', 'linkset', 'anchor', 'acl', 'self', rdf.type]);
export const isStructural = (relation: string): boolean =>
  structural.has(relation) || relation.startsWith(lws.namespace) || relation.startsWith(ldp.namespace);

/** A state of a resource, as far as the index tells of it. */
export interface IndexedResource {
  readonly record: ResourceRecord;
  /** The GSPO keys of its graph; none when it has no graph. */
  readonly keys: KeySource;
  readonly links: ClientLinks;
}

/** The relation that a statement of a graph is found under; `undefined` when it is not indexed. */
export function relationOf([predicate]: IriStatement): string | undefined {
  if (predicate === rdf.type) return typeRelation;
  const relation = searchedRelation(predicate);
  return isStructural(relation) ? undefined : relation;
}

/** The entries of a resource: keys with values, which are empty for postings. */
export async function entriesOf({ record, keys, links }: IndexedResource): Promise<Map<string, string>> {
  const { iri, owner } = record;
  const types = new Set([structuralType(record.kind), ...declaredTypes(links)]);
  const entries = new Map<string, string>();
  const add = (relation: string, value: string): void => {
    entries.set(entryKey(postingSpace, relation, value, iri), '');
  };
  const take = (statements: readonly IriStatement[]): void => {
    for (const statement of statements) {
      const relation = relationOf(statement);
      if (relation === typeRelation) types.add(statement[1]);
      else if (relation !== undefined) add(relation, statement[1]);
    }
  };
  const short = ofShortGraph(iri, keys);
  if (short) take(short);
  else for await (const statements of ownStatements(iri, keys)) take(statements);
  for (const [name, target] of relationTargets(links, iri)) {
    const relation = searchedRelation(name);
    if (!isStructural(relation)) add(relation, target);
  }
  for (const type of types) add(typeRelation, type);
  if (owner !== undefined && !owner.includes('\u0000'))
    entries.set(entryKey(ownedSpace, owner, iri), JSON.stringify([...types]));
  return entries;
}
