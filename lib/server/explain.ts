/** `quadpod explain`: what a request would be allowed to do, and by which rule. It changes nothing. */
import type { Authorizer, View } from '../authorization/authorizer.js';
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import { controlledBy, describedBy } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import { SettingsError } from '../settings.js';
import { parentOf } from '../storage/records.js';

export interface ExplainedRequest {
  readonly access: Access;
  readonly method: string;
  readonly iri: string;
}

interface Needed {
  readonly mode: Mode;
  readonly iri: string;
}

/** What a method needs of what (open-points 1.1). @throws SettingsError for a method that is none */
function neededFor({ method, iri }: ExplainedRequest, storage: Storage): Needed {
  const isRead = /^(?:GET|HEAD|OPTIONS|QUERY)$/.test(method);
  const controlled = storage.acls && controlledBy(iri);
  if (controlled) return { mode: 'control', iri: controlled };
  const described = describedBy(iri);
  if (described !== undefined) return { mode: isRead ? 'read' : 'write', iri: described };
  if (isRead) return { mode: 'read', iri };
  if (method === 'POST') return { mode: 'append', iri };
  if (method === 'DELETE') return { mode: 'delete', iri };
  if (method === 'PATCH') return { mode: 'write', iri };
  if (method !== 'PUT')
    throw new SettingsError(`--method is ${method}; expected GET, HEAD, POST, PUT, PATCH or DELETE.`);
  return storage.store.record(iri) ? { mode: 'write', iri } : { mode: 'append', iri: parentOf(iri) };
}

/** The decision in sentences. */
export async function explain(storage: Storage, request: ExplainedRequest): Promise<string[]> {
  const { access, method, iri } = request;
  if (!iri.startsWith(storage.storage)) throw new SettingsError(`${iri} is not in the storage ${storage.storage}.`);
  const { authorizer, store }: { authorizer: Authorizer; store: View } = storage;
  const needed = neededFor(request, storage);
  const record = store.record(needed.iri);
  const { allowed, rule } = await authorizer.decide({
    view: store,
    access,
    mode: needed.mode,
    iri: needed.iri,
    record,
  });
  const who = access.principal ? access.principal.subject : 'an anonymous client';
  return [
    `${method} ${iri}`,
    `  needs ${needed.mode} on ${needed.iri}${record ? '' : ', which does not exist'}.`,
    `  ${who} ${allowed ? 'may' : 'may not'}: ${rule}.`,
  ];
}
