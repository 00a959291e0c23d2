/** What a request would be allowed to do, and by which rule: for those who look after a storage. It changes nothing. */
import { nearestContainer } from '../authorization/guard.js';
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { parentOf } from '../storage/keys/records.js';
import { controlledBy, describedBy } from './names.js';
import type { Storage } from './storage.js';

export interface ExplainedRequest {
  readonly access: Access;
  readonly method: string;
  readonly iri: string;
}

export interface Explanation {
  readonly allowed: boolean;
  /** The rule that decides, in words. */
  readonly rule: string;
  /** The mode that the request needs, and of which resource. */
  readonly needs: { readonly mode: Mode; readonly iri: string };
  /** Whether the resource that the mode is needed of exists. */
  readonly exists: boolean;
}

type Decider = Pick<Storage, 'rootIri' | 'store' | 'authorizer' | 'acls' | 'profile'>;

/** What a method needs of what (rule 2.1). */
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
    throw new LwsError('bad-request', `The method is ${method}; expected GET, HEAD, POST, PUT, PATCH or DELETE.`);
  if (store.record(iri)) return { mode: 'write', iri };
  const parent = parentOf(iri);
  // Rule 20.4: it is made, where that is allowed.
  const nearest = profile?.makesParents ? nearestContainer({ rootIri }, store, parent) : undefined;
  return { mode: 'append', iri: nearest?.iri ?? parent };
}

/**
 * The decision about a request that nobody made.
 * @throws LwsError `bad-request` for a method that is none, and for an IRI outside of the storage
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
