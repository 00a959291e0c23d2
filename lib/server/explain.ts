/** `quadpod explain`: what a request would be allowed to do, and by which rule, in sentences. */
import { LwsError } from '../errors.js';
import { type ExplainedRequest, explainDecision } from '../resources/explanation.js';
import type { Storage } from '../resources/storage.js';
import { SettingsError } from '../settings.js';

/** The decision in sentences. @throws SettingsError for a method that is none, and for an IRI outside of the storage */
export async function explain(storage: Storage, request: ExplainedRequest): Promise<string[]> {
  const { access, method, iri } = request;
  const { allowed, rule, needs, exists } = await explainDecision(storage, request).catch((error: unknown) => {
    throw error instanceof LwsError ? new SettingsError(error.message) : error;
  });
  const who = access.principal ? access.principal.subject : 'an anonymous client';
  return [
    `${method} ${iri}`,
    `  needs ${needs.mode} on ${needs.iri}${exists ? '' : ', which does not exist'}.`,
    `  ${who} ${allowed ? 'may' : 'may not'}: ${rule}.`,
  ];
}
