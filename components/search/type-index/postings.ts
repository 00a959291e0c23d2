/**
 * Index entries of a resource: a posting for each type and relation target, whose key ends in the IRI of the resource, and an
 * entry with all types under the owner of the resource.
 */

import { ldp, lws, rdf } from '../../../lib/rdf/vocabulary.js';
import { type ClientLinks, declaredTypes, relationTargets, searchedRelation } from '../../../lib/resources/linkset.js';
import { structuralType } from '../../../lib/resources/types.js';
import { entryKey, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import {
  type IriStatement,
  type KeySource,
  ofShortGraph,
  ownStatements,
} from '../../../lib/storage/keys/subject-statements.js';
import { ownedSpace, relationSpace as postingSpace } from '../../../lib/storage/level/owned-entries.js';

/** Key layout: relation, value, resource. */
export const postings = { space: postingSpace, parts: 2 };
/** Key layout: `owned`, owner, resource. The value is the JSON of the resource's types. */
export {
  completeIndex as currentState,
  indexStateKey as stateKey,
  ownedSpace,
  relationSpace as postingSpace,
} from '../../../lib/storage/level/owned-entries.js';

/** Relation name of types in postings. Links cannot use this name: `type` is reserved. */
export const typeRelation = 'type';

/** Relations of the protocol, which are never indexed (search rule 4). */
const structural: ReadonlySet<string> = new Set(['type', 'up', 'linkset', 'anchor', 'acl', 'self', rdf.type]);
const isStructural = (relation: string): boolean =>
  structural.has(relation) || relation.startsWith(lws.namespace) || relation.startsWith(ldp.namespace);

/** State of a resource, reduced to what is indexed. */
export interface IndexedResource {
  readonly record: ResourceRecord;
  /** GSPO keys of the resource's graph; empty if there is none. */
  readonly keys: KeySource;
  readonly links: ClientLinks;
}

/** Returns the relation of a statement, or `undefined` if it is not indexed. */
export function relationOf([predicate]: IriStatement): string | undefined {
  if (predicate === rdf.type) return typeRelation;
  const relation = searchedRelation(predicate);
  return isStructural(relation) ? undefined : relation;
}

/** Returns the entries of a resource: keys with their values. Postings have empty values. */
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
