/** POST: creates a resource in a container, with a name chosen by the server (rule 6.2). */
import { attribute } from '../authorization/audit.js';
import { requireAccess } from '../authorization/guard.js';
import { isContainerIri, type ResourceRecord } from '../storage/keys/records.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import {
  assertNoBody,
  type Content,
  discardBody,
  parseContent,
  type RequestBody,
  readRequestBody,
  receiveContent,
} from './body.js';
import { allowedMethods } from './methods.js';
import { candidateNames, counterpart, isReserved } from './names.js';
import { assertPreconditions } from './preconditions.js';
import { containerState } from './seen-state.js';
import type { Storage } from './storage.js';
import { contentKind } from './types.js';
import {
  assertUnreserved,
  loadLarge,
  requireFreeName,
  reservedName,
  stageNew,
  type WriteRequest,
  type WriteResult,
} from './write.js';

export interface CreateRequest extends WriteRequest {
  readonly slug: string | undefined;
  readonly body: RequestBody;
}

/**
 * Creates a member of the container `request.iri`.
 * @throws LwsError `reserved-name`, `method-not-allowed` on a data resource, and errors of authorization, content and quota
 */
export async function create(storage: Storage, request: CreateRequest): Promise<WriteResult> {
  const { iri: container, access, slug, body, model } = request;
  if (slug !== undefined && isReservedName(storage, container, slug)) throw reservedName();
  const parent = await requireAccess(
    storage,
    storage.store,
    access,
    isContainerIri(container) || storage.profile?.refusesPosts ? 'append' : 'read',
    container,
  );
  if (parent.kind !== 'container') throw notAContainer(storage, parent);
  await assertContainerState(storage, storage.store, request, parent);
  const makesContainer = model === 'container' || slug?.endsWith('/') === true;
  const names = candidateNames(slug, makesContainer);
  const nextName = (): string => freeName(storage, container, names);
  let iri = nextName();
  assertUnreserved(storage, iri);
  const kind = makesContainer ? undefined : contentKind(model, body.mediaType);
  if (kind === undefined) await assertNoBody(storage, body);
  // References in RDF are relative to the new IRI. If another request takes the name meanwhile, the body is parsed again.
  const rdf = kind === 'rdf' ? await readRequestBody(storage, body) : undefined;
  const bytes = kind && !rdf ? await receiveContent(storage, kind, body, iri) : undefined;
  for (;;) {
    const content = rdf ? await parseContent(storage, body.mediaType, { bytes: rdf, sizeOnly: true }, iri) : bytes;
    try {
      return { record: await commit(storage, request, iri, content), created: true };
    } catch (error) {
      if (!isTaken(error)) {
        await discardBody(content, error);
        throw error;
      }
      iri = nextName();
    }
  }
}

/** Preconditions of a POST apply to its container. `If-None-Match` would always fail and is ignored. */
async function assertContainerState(
  storage: Storage,
  view: Store | Transaction,
  { access, preconditions: { ifMatch, ifUnmodifiedSince, stateLists } }: CreateRequest,
  container: ResourceRecord,
): Promise<void> {
  if (ifMatch === undefined && ifUnmodifiedSince === undefined && !stateLists) return;
  const seen = await containerState(storage, view, access, container);
  assertPreconditions({ ifMatch, ifUnmodifiedSince, stateLists }, seen, seen.state);
}

const isTaken = (error: unknown): boolean => error instanceof LwsError && error.code === 'already-exists';

/** Returns true if the name is reserved, either as sent or within the composed path (rule 6.2). */
const isReservedName = ({ rootIri: storage, systemPrefix }: Storage, container: string, slug: string): boolean =>
  isReserved(container + slug.replace(/^\/+/, ''), storage, systemPrefix);

/** Returns the next free candidate. Calls `next`, because `for...of` would end the generator after the first name. */
export function freeName({ store }: Storage, container: string, names: Generator<string, never>): string {
  for (;;) {
    const iri = container + names.next().value;
    if (!store.record(iri) && !store.record(counterpart(iri))) return iri;
  }
}

/** Commits the resource under a name. @throws LwsError `already-exists` if another request has used the name meanwhile */
const commit = (
  storage: Storage,
  request: CreateRequest,
  iri: string,
  content: Content | undefined,
): Promise<ResourceRecord> =>
  storage.store.transact(
    async (tx) => {
      attribute(tx, request.access);
      const parent = await requireFreeName(storage, tx, request.access, iri);
      await assertContainerState(storage, tx, request, parent);
      return stageNew(storage, tx, { ...request, iri }, content);
    },
    { prepare: (after) => loadLarge(storage, [[iri, content]], after) },
  );

const notAContainer = (storage: Storage, record: ResourceRecord): LwsError =>
  new LwsError('method-not-allowed', 'POST is allowed on containers only. Use PUT or PATCH to change this resource.', {
    fields: { Allow: allowedMethods(record, storage).join(', ') },
  });
