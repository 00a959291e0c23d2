/** PUT: creates or replaces a resource at the requested IRI (rules 6.6, 6.7). */
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { requirePut } from '../authorization/guard.js';
import { isContainerIri, parentOf, type ResourceRecord } from '../storage/keys/records.js';
import type { Prepare } from '../storage/transactions/commit-queue.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { assertNoBody, type Content, discardBody, type RequestBody, receiveContent } from './body.js';
import { withKeptLabels } from './kept-labels.js';
import { counterpart } from './names.js';
import { assertParentNames, assertParentsFree, stageParents } from './parents.js';
import { assertPreconditions } from './preconditions.js';
import type { Storage } from './storage.js';
import { contentKind } from './types.js';
import {
  assertShape,
  loadLarge,
  nameTaken,
  rememberTurtle,
  stageContent,
  stageNew,
  type WriteRequest,
  type WriteResult,
} from './write.js';

export interface ReplaceRequest extends WriteRequest {
  readonly body: RequestBody;
  /** Returns the content, if the content is not the body of the request. */
  readonly content?: () => Promise<Content>;
}

/**
 * Creates or replaces a resource.
 * @throws LwsError in the order of rule 6.11: `reserved-name`, `interaction-model-conflict`, authorization, `parent-not-found`,
 * `parent-not-a-container`, `container-exists`, `precondition-required`, `precondition-failed`, errors of the content,
 * `quota-exceeded`
 */
export async function replace(storage: Storage, request: ReplaceRequest): Promise<WriteResult> {
  const { iri, model, body } = request;
  assertShape(iri, model);
  const admitted = await admit(storage, storage.store, request);
  let content: Content | undefined;
  if (isContainerIri(iri)) await assertNoBody(storage, body);
  else if (request.content) content = await request.content();
  else content = await receiveContent(storage, contentKind(model, body.mediaType), body, iri, admitted);
  try {
    if (admitted) await storage.store.prefetch(admitted);
    if (admitted) content = await withKeptLabels(storage, admitted, content);
    const work = async (tx: Transaction): Promise<WriteResult> => {
      attribute(tx, request.access);
      const before = await admit(storage, tx, request);
      if (before && content) {
        const links = { given: request.links, partial: false };
        return { record: await stageContent({ storage, tx }, before, { content, links }), created: false };
      }
      // `admit` has checked that the name is free, and that the caller may create the resource and missing parents.
      stageParents(storage, tx, request);
      return { record: stageNew(storage, tx, request, content), created: true };
    };
    const prepare: Prepare<void> = (after) => loadLarge(storage, [[iri, content]], after);
    const result = await storage.store.transact(work, { prepare });
    if (!result.created) rememberTurtle(storage, result.record, content);
    return result;
  } catch (error) {
    await discardBody(content, error);
    throw error;
  }
}

/** Performs the checks that do not need the content. Runs before the body is read, and again inside the transaction. */
async function admit(storage: Storage, view: View, request: ReplaceRequest): Promise<ResourceRecord | undefined> {
  const { iri, preconditions } = request;
  const record = await requireTarget(storage, view, request);
  if (record?.kind === 'container')
    throw new LwsError('container-exists', 'The container exists and cannot be replaced.');
  if (!record && view.record(counterpart(iri))) throw nameTaken();
  assertPreconditions(preconditions, record, record?.revision, storage.requireConditionalWrites);
  return record;
}

/**
 * Returns the resource to replace, or `undefined` if it may be created.
 * @throws LwsError as `requirePut`, `parent-not-a-container`; under a profile as `assertParentNames` and `assertParentsFree`
 */
export async function requireTarget(
  storage: Storage,
  view: View,
  { iri, access }: Pick<WriteRequest, 'iri' | 'access'>,
): Promise<ResourceRecord | undefined> {
  assertParentNames(storage, iri);
  try {
    const record = await requirePut(storage, view, access, iri);
    if (!record) await assertParentsFree(storage, view, { iri, access });
    return record;
  } catch (error) {
    if (!(error instanceof LwsError) || error.code !== 'parent-not-found') throw error;
    // Rule 6.7: a data resource cannot have members. Callers who cannot see it get the same error as for a missing parent.
    const parent = view.record(counterpart(parentOf(iri)));
    if (parent && (await storage.authorizer.allows({ view, access, mode: 'read', iri: parent.iri, record: parent })))
      throw new LwsError('parent-not-a-container', 'The parent of this IRI is not a container.');
    throw error;
  }
}
