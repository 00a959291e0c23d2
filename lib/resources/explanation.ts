/** Explains to operators if a request would be allowed, and by which rule. Changes nothing. */
import { nearestContainer } from '../authorization/guard.js';
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import { parentOf } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { controlledBy, describedBy } from './names.js';
import type { Storage } from './storage.js';

export interface ExplainedRequest {
  readonly access: Access;
  readonly method: string;
  readonly iri: string;
}

export interface Explanation {
  readonly allowed: boolean;
  /** Description of the rule that decides. */
  readonly rule: string;
  /** Mode that the request requires, and the resource on which it is required. */
  readonly needs: { readonly mode: Mode; readonly iri: string };
  /** True if the resource of `needs` exists. */
  readonly exists: boolean;
}

type Decider = Pick<Storage, 'rootIri' | 'store' | 'authorizer' | 'acls' | 'profile'>;

/** Returns the mode that a method requires, and the resource on which it is required (rule 2.1). */
function neededFor(
  { method, iri }: ExplainedRequest,
  { rootIri, store, acls, profile }: Decider,
): Explanation['needs'] {
  const isRead = /^(?:GET|HEAD|OPTIONS|QUERY)$/.test(method);
  const controlled = acls && controlledBy(iri);
  if (controlled) return { mode: 'control', iri: controlled };
  const described = describedBy(iri);
  if (described !== undefined) return { mode: isRead ? 'read' : 'write', iri: described };
  if (isRead) return { mode: 'read', iri };
  if (method === 'POST') return { mode: 'append', iri };
  if (method === 'DELETE') return { mode: 'delete', iri };
  if (method === 'PATCH') return { mode: 'write', iri };
  if (method !== 'PUT')
    throw new LwsError('bad-request', `Method ${method} is not supported. Use GET, HEAD, POST, PUT, PATCH or DELETE.`);
  if (store.record(iri)) return { mode: 'write', iri };
  const parent = parentOf(iri);
  // Rule 20.4: the write would also create the parent, which requires append on the nearest existing container.
  const nearest = profile?.makesParents ? nearestContainer({ rootIri }, store, parent) : undefined;
  return { mode: 'append', iri: nearest?.iri ?? parent };
}

/**
 * Returns the decision for a hypothetical request. @throws LwsError `bad-request` for an unknown method or
 * an IRI of another storage
 */
export async function explainDecision(storage: Decider, request: ExplainedRequest): Promise<Explanation> {
  const { access, iri } = request;
  if (!iri.startsWith(storage.rootIri))
    throw new LwsError('bad-request', `${iri} is not in the storage ${storage.rootIri}.`);
  const needs = neededFor(request, storage);
  const record = storage.store.record(needs.iri);
  const { allowed, rule } = await storage.authorizer.decide({ view: storage.store, access, ...needs, record });
  return { allowed, rule, needs, exists: record !== undefined };
}
