/** The field `WAC-Allow` (Web Access Control, section 7.1): what the caller and the public may do with a resource. */
import type { Mode } from '../authorization/mode.js';
import type { Access } from '../authorization/principal.js';
import type { Storage } from '../resources/storage.js';
import type { ResourceRecord } from '../storage/state/records.js';

const modes: readonly Mode[] = ['read', 'append', 'write', 'control'];

export async function wacAllow(storage: Storage, access: Access, record: ResourceRecord): Promise<string> {
  const { origin } = access;
  // A new object: decisions are remembered with the one of the request.
  const nobody: Access = origin === undefined ? {} : { origin };
  const asked = access.principal ? allowedModes(storage, access, record) : undefined;
  const open = await allowedModes(storage, nobody, record);
  return `user="${(await asked) ?? open}",public="${open}"`;
}

async function allowedModes(
  { authorizer, store: view }: Storage,
  access: Access,
  record: ResourceRecord,
): Promise<string> {
  const allowed: Mode[] = [];
  for (const mode of modes) {
    const decision = authorizer.allows({ view, access, mode, iri: record.iri, record });
    if (typeof decision === 'boolean' ? decision : await decision) allowed.push(mode);
  }
  return allowed.join(' ');
}
