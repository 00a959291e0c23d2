/**
 * The operations on access control resources, `X.acl` (rules 3.1, 3.7): read, replaced and deleted by whoever has control of X, in the same
 * transactions as everything else.
 */

import { isDeepStrictEqual } from 'node:util';
import {
  type AclDocument,
  aclKey,
  aclOfGraph,
  agentsOfGraph,
  leavesControl,
  readAcl,
  readAclDocument,
} from '../authorization/acl.js';
import type { AclIndex } from '../authorization/acl-index.js';
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { isIdentity, noIdentity } from '../authorization/did.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import { LwsError } from '../errors.js';
import { decodeUtf8 } from '../json/json.js';
import { n3Patch } from '../profile.js';
import type { SentUpdate } from '../query/parse/read-update.js';
import { isRdfFormat, type RdfFormat, rdfFormats } from '../rdf/formats.js';
import { applied } from '../storage/keys/graph-changes.js';
import { newRevision, type ResourceRecord } from '../storage/keys/records.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { type RequestBody, readBody } from './body.js';
import { rdfPatches } from './methods.js';
import { RevisionConflict, retryOnConflict } from './optimistic-retry.js';
import { insertedBy } from './patch-absent.js';
import { assertPreconditions, dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';
import type { WriteRequest } from './write.js';

/** Longer ones would make every decision slow that they are read for. */
const longestAcl = 256 << 10;

/**
 * What is refused of an ACL whichever way it comes.
 * @throws LwsError `too-large`, `bad-request` for an agent that is no identity, `conflict` for a root's without control: it is
 *   the last one that counts (rules 3.9, 3.13)
 */
export function assertUsableAcl({ rootIri }: Pick<Storage, 'rootIri'>, iri: string, keys: readonly string[]): void {
  if (keys.reduce((sum, { length }) => sum + length, 0) > 2 * longestAcl)
    throw new LwsError('too-large', `The ACL would become larger than ${longestAcl >> 10} KiB.`);
  const unknown = agentsOfGraph(keys).find((agent) => !isIdentity(agent));
  if (unknown !== undefined) throw noIdentity(unknown);
  if (iri === rootIri && !leavesControl(aclOfGraph(iri, keys)))
    throw new LwsError(
      'conflict',
      'This ACL names no acl:agent with acl:Control by acl:accessTo on the root: nobody might be able to change it any more.',
    );
}

/** `iri` is the described resource. */
export type AclRequest = Pick<WriteRequest, 'iri' | 'access' | 'preconditions'>;

/** A resource that the caller controls, and its own ACL, if it has one. */
export interface ControlledResource {
  readonly record: ResourceRecord;
  readonly acl: AclDocument | undefined;
}

/** @throws LwsError as `requireAccess`: the ACL of an absent resource is answered as that resource */
export async function requireControl(
  storage: Storage,
  view: View,
  access: Access,
  iri: string,
): Promise<ControlledResource> {
  const record = await requireAccess(storage, view, access, 'control', iri);
  const value = view.entry(aclKey(iri));
  const isAcl = value !== undefined && !readAcl(iri, value).isEmpty;
  return { record, acl: isAcl ? readAclDocument(value) : undefined };
}

type AclWrite = AclRequest & { readonly body: RequestBody };

/**
 * Creates or replaces an ACL.
 * @throws LwsError `precondition-required`, `precondition-failed`, `unsupported-media-type`, `too-large`, `malformed-body`,
 *   and as `assertUsableAcl`
 */
export async function putAcl(storage: Storage, index: AclIndex, request: AclWrite): Promise<WrittenAcl> {
  const { body } = request;
  const assertType = (): void => {
    if (!isRdfFormat(body.mediaType))
      throw new LwsError('unsupported-media-type', `An ACL is RDF. Send one of ${rdfFormats.join(', ')}.`);
  };
  return writeAcl({ storage, index, assertType }, request, async () => {
    const bytes = await readBody(body, longestAcl);
    const graph = await storage.documents.parse(bytes, body.mediaType as RdfFormat, request.iri);
    return async () => ({ graph });
  });
}

/** The triples of an ACL, and the prefixes to write them with. */
type AclGraph = Pick<AclDocument, 'keys' | 'prefixes'>;

export interface WrittenAcl {
  readonly acl: AclDocument;
  readonly created: boolean;
}

/**
 * Changes an ACL, or creates it with an update that only inserts; references in it are relative to the resource, as in a PUT.
 * @throws LwsError `not-found` for an update of nothing that does more, `unsupported-media-type`, `precondition-required`,
 *   `precondition-failed`, `too-large`, `malformed-body`, `conflict` as `putAcl`
 */
export async function patchAcl(storage: Storage, index: AclIndex, request: AclWrite): Promise<WrittenAcl> {
  const { iri, body } = request;
  const assertType = (): void => {
    const patches = rdfPatches(storage);
    if (!patches.includes(body.mediaType))
      throw new LwsError('unsupported-media-type', `An ACL is patched with ${patches.join(' or ')}.`, {
        fields: { 'Accept-Patch': patches.join(', ') },
      });
  };
  return writeAcl({ storage, index, assertType }, request, async () => {
    const text = decodeUtf8(await readBody(body, longestAcl));
    const update = { text, isN3: body.mediaType === n3Patch };
    return async ({ acl }) => ({
      graph: await updated(storage, update, { iri, acl }),
      seen: { revision: acl?.revision },
    });
  });
}

/** What becomes of an ACL, which was computed from the state that was seen; absent: from none. */
interface NewAcl {
  readonly graph: AclGraph;
  readonly seen?: { readonly revision: string | undefined };
}

interface AclWriteContext {
  readonly storage: Storage;
  readonly index: AclIndex;
  /** Checks the media type of the body, before the preconditions (rule 6.11). */
  readonly assertType: () => void;
}

/** @param receive reads the body and returns a function that computes the new ACL from the present one */
async function writeAcl(
  { storage, index, assertType }: AclWriteContext,
  request: AclWrite,
  receive: () => Promise<(found: ControlledResource) => Promise<NewAcl>>,
): Promise<WrittenAcl> {
  const { iri, access } = request;
  const admit = async (view: View): Promise<ControlledResource> => {
    const found = await requireControl(storage, view, access, iri);
    assertType();
    assertState(request, found, storage.requireConditionalWrites);
    return found;
  };
  await admit(storage.store);
  const compute = await receive();
  return retryOnConflict(async () => {
    const { graph, seen } = await compute(await admit(storage.store));
    const { prefixes, keys } = graph;
    assertUsableAcl(storage, iri, keys);
    return storage.store.transact(async (tx) => {
      attribute(tx, access);
      const found = await admit(tx);
      if (seen && found.acl?.revision !== seen.revision) throw new RevisionConflict(iri);
      // Rule 6.13: a patch that changes nothing keeps the tag.
      if (seen && found.acl && isDeepStrictEqual(found.acl.keys, keys)) return { acl: found.acl, created: false };
      const acl = { revision: newRevision(), ...dateAfter(found.acl, storage.clock()), prefixes, keys };
      stageAcl(tx, index, found.record, acl);
      return { acl, created: found.acl === undefined };
    });
  });
}

async function updated(
  storage: Storage,
  update: SentUpdate,
  { iri, acl }: { readonly iri: string; readonly acl: AclDocument | undefined },
): Promise<AclGraph> {
  if (!acl) {
    const made = await insertedBy(storage, update, iri);
    if (!made) throw noAcl();
    return made;
  }
  const change = (await storage.documents.evaluateUpdate(update, { graph: iri, entry: aclKey(iri) }, storage.store))!;
  if (change.revision !== acl.revision) throw new RevisionConflict(iri);
  return { keys: applied(acl.keys, change).keys, prefixes: change.prefixes };
}

/** Stages an ACL; its resource's record says that there is one, so that it goes with the resource. */
export function stageAcl(tx: Transaction, index: AclIndex, record: ResourceRecord, acl: AclDocument): void {
  index.stage(record.iri);
  tx.putEntry(aclKey(record.iri), JSON.stringify(acl));
  if (!record.acl) tx.putRecord({ ...record, acl: true });
}

/**
 * Deletes an ACL, so that the nearest container's counts again.
 * @throws LwsError `not-found` without one, `root-not-deletable`, `precondition-failed`
 */
export async function deleteAcl(storage: Storage, request: AclRequest): Promise<void> {
  const { iri, access } = request;
  // Groups of other servers are asked before the transaction, never in it.
  await requireControl(storage, storage.store, access, iri);
  const work = async (tx: Transaction): Promise<void> => {
    const found = await requireControl(storage, tx, access, iri);
    if (!found.acl) throw noAcl();
    if (iri === storage.rootIri)
      throw new LwsError(
        'root-not-deletable',
        'The ACL of the root is the last one that counts, and cannot be deleted.',
      );
    assertState(request, found, false);
    const { acl: _flag, ...record } = found.record;
    tx.putRecord(record);
    tx.deleteEntry(aclKey(iri));
  };
  await storage.store.transact(work, { frees: true });
}

export const noAcl = (): LwsError =>
  new LwsError('not-found', 'The resource has no ACL of its own; the one of the nearest container counts.', {
    reason: 'no own ACL',
  });

/** The preconditions are about the ACL, not about the resource. */
function assertState({ preconditions }: AclRequest, { acl }: ControlledResource, required: boolean): void {
  assertPreconditions(preconditions, acl, acl?.revision, required);
}
