/** Evaluates the `If` field of WebDAV (RFC 4918 10.4, rule 25.9). */

import { counterpart, readTarget } from '../resources/names.js';
import { holds, statesFailed } from '../resources/preconditions.js';
import { stateOf } from '../resources/seen-state.js';
import { isContainerIri } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { parseStateLists, type StateCondition, type StateList } from '../tools/fields/if-states.js';
import { field } from './request.js';
import type { ResourceExchange } from './resource-exchange.js';

/** Maximum count of resources in an `If` field, because the state of a container may require a decision on each member. */
const maxResources = 16;

/**
 * Returns the lists of `If` for the target. Lists for other resources are evaluated here: a list that holds becomes an empty
 * list, and any other list is omitted.
 * @throws LwsError `bad-request`, `too-complex`
 */
export async function stateListsOf(
  exchange: ResourceExchange,
): Promise<readonly (readonly StateCondition[])[] | undefined> {
  const { req, target, storage } = exchange;
  const value = field(req, 'if');
  if (value === undefined) return undefined;
  const lists = parseStateLists(value);
  if (!lists)
    throw new LwsError(
      'bad-request',
      'The If field is malformed (RFC 4918 10.4). Send lists of entity tags, such as (["x"]).',
    );
  const states = new Map<string, string | undefined>();
  const found: (readonly StateCondition[])[] = [];
  for (const list of lists) {
    const iri = resourceOf(list, exchange);
    if (iri === target.iri) {
      found.push(list.conditions);
      continue;
    }
    if (!states.has(iri)) {
      if (states.size === maxResources)
        throw new LwsError(
          'too-complex',
          `The If field names more than ${maxResources} resources. The limit is fixed.`,
        );
      states.set(iri, iri.startsWith(storage.rootIri) ? await visibleState(exchange, iri) : undefined);
    }
    if (holds(list.conditions, states.get(iri))) found.push([]);
  }
  return found;
}

/** Returns the IRI of the resource that a list refers to. @throws LwsError `bad-request` */
function resourceOf({ resource }: StateList, { target, storage }: ResourceExchange): string {
  if (resource === undefined) return target.iri;
  const { origin } = new URL(storage.rootIri);
  const iri = resource.startsWith('/') ? origin + resource : resource;
  if (!iri.startsWith(storage.rootIri)) return iri;
  const { iri: named } = readTarget(iri.slice(origin.length), storage.rootIri);
  const isMissing = !isContainerIri(named) && !storage.store.record(named);
  return isMissing && storage.store.record(counterpart(named)) ? counterpart(named) : named;
}

/** Returns the state of a resource, or `undefined` if the caller cannot read it. */
async function visibleState({ storage, access }: ResourceExchange, iri: string): Promise<string | undefined> {
  const { store: view, authorizer } = storage;
  const record = view.record(iri);
  if (!record || !(await authorizer.allows({ view, access, mode: 'read', iri, record }))) return undefined;
  return (await stateOf(storage, view, access, record)).state;
}

/** Checks `If` for a method of a component that has no other preconditions. @throws LwsError `precondition-failed` */
export async function assertStates(exchange: ResourceExchange): Promise<void> {
  const lists = exchange.webDav?.stateLists;
  if (!lists) return;
  const state = await visibleState(exchange, exchange.target.iri);
  if (!lists.some((conditions) => holds(conditions, state))) throw statesFailed();
}
