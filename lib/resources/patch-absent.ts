/** PATCH on a nonexistent resource: an update that only inserts triples creates an RDF resource if a PUT might (rule 6.18). */
import type { View } from '../authorization/authorizer.js';
import { refusalOfAbsent } from '../authorization/guard.js';
import type { EncodedDocument } from '../documents/document-tasks.js';
import type { SentUpdate } from '../query/parse/read-update.js';
import { n3Patch } from '../settings/profile.js';
import { charactersOf } from '../storage/keys/graph-keys.js';
import { isContainerIri } from '../storage/keys/records.js';
import { LwsError, patchConflict } from '../tools/errors.js';
import { decodeUtf8 } from '../tools/json/json.js';
import { type RequestBody, readBody } from './body.js';
import { rdfPatches } from './methods.js';
import { assertPreconditions } from './preconditions.js';
import { replace, requireTarget } from './replace.js';
import type { Storage } from './storage.js';
import type { WriteRequest, WriteResult } from './write.js';

export type AbsentPatch = WriteRequest & { readonly body: RequestBody };

/**
 * Creates the resource.
 * @param patch applied instead if another request has created the resource meanwhile
 * @throws LwsError as for any nonexistent resource if PUT could not create it, or if the update does more than insert;
 * `unsupported-media-type`, `precondition-failed`, `malformed-body`
 */
export async function patchAbsent(
  storage: Storage,
  request: AbsentPatch,
  patch: (request: AbsentPatch) => Promise<WriteResult>,
): Promise<WriteResult> {
  const { iri, access, body, preconditions } = request;
  const view = storage.store;
  if (isContainerIri(iri) || !(await mayCreate(storage, view, request)))
    throw await refusalOfAbsent(storage, view, access, iri);
  // Rule 4.2: the name may belong to a resource that the caller cannot read, so a patch that creates nothing gets the same 404.
  if (!rdfPatches(storage).includes(body.mediaType)) throw await refusalOfAbsent(storage, view, access, iri);
  assertPreconditions(preconditions, undefined, undefined);
  const bytes = await readBody(body, storage.limits.requestBytes);
  const document = await insertedBy(storage, { text: decodeUtf8(bytes), isN3: body.mediaType === n3Patch }, iri);
  if (!document) throw await refusalOfAbsent(storage, view, access, iri);
  try {
    return await replace(storage, {
      ...request,
      preconditions: { ...preconditions, ifNoneMatch: '*' },
      model: 'rdf',
      content: async () => ({ kind: 'rdf', document }),
    });
  } catch (error) {
    const excluded = error instanceof LwsError && error.code === 'precondition-failed';
    if (!excluded || preconditions.ifNoneMatch !== undefined) throw error;
    // The commit that created the resource may still be in progress. An empty transaction waits for that commit.
    if (!(await storage.store.transact((tx) => tx.record(iri)))) throw error;
    return patch({ ...request, body: { ...body, digests: new Map(), collect: async () => bytes } });
  }
}

async function mayCreate(storage: Storage, view: View, { access, iri }: AbsentPatch): Promise<boolean> {
  try {
    return (await requireTarget(storage, view, { access, iri })) === undefined;
  } catch (error) {
    // Under a profile, the error names the missing containers. If errors are not masked, it also names the caller's identity.
    // Otherwise the error equals that of a hidden resource.
    const isOfCaller = error instanceof LwsError && /not-found|forbidden|unauthenticated/.test(error.code);
    if (error instanceof LwsError && (!storage.profile?.refusesAbsent || (storage.mask && isOfCaller))) return false;
    throw error;
  }
}

/**
 * Returns the graph that an update creates from an empty graph, or `undefined` if it does more than insert data.
 * @throws LwsError `patch-conflict` for an N3 Patch that does more: an empty graph matches no condition and has no triples to
 * remove
 */
export async function insertedBy(
  { documents }: Storage,
  update: SentUpdate,
  iri: string,
): Promise<EncodedDocument | undefined> {
  const delta = await documents.evaluateUpdate(update, { graph: iri, isNew: true });
  if (!delta || delta.removed.length > 0) {
    if (update.isN3) throw patchConflict('the resource does not exist');
    return undefined;
  }
  const { added: keys, prefixes, after } = delta;
  documents.assertGrown({ before: 0, after: keys.length, characters: charactersOf(keys) }, update.text.length);
  return { keys, prefixes, ...after! };
}
