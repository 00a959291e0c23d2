/**
 * Operations on access control resources, `X.acl` (rules 3.1, 3.7): read, replace, patch, delete. Each requires control of X
 * and runs in a transaction of the storage.
 */

import { isDeepStrictEqual } from 'node:util';
import {
  type AclDocument,
  aclDocumentOf,
  aclKey,
  aclOfGraph,
  agentsOfGraph,
  leavesControl,
} from '../authorization/acl.js';
import type { AclIndex } from '../authorization/acl-index.js';
import { attribute } from '../authorization/audit.js';
import type { View } from '../authorization/authorizer.js';
import { isIdentity, noIdentity } from '../authorization/did.js';
import { requireAccess } from '../authorization/guard.js';
import type { Access } from '../authorization/principal.js';
import type { SentUpdate } from '../query/parse/read-update.js';
import { isRdfFormat, type RdfFormat, rdfFormats } from '../rdf/formats.js';
import { n3Patch } from '../settings/profile.js';
import { applied } from '../storage/keys/graph-changes.js';
import { versionOf } from '../storage/keys/key-layout.js';
import { newRevision, type ResourceRecord } from '../storage/keys/records.js';
import { Again } from '../storage/transactions/again.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import { decodeUtf8 } from '../tools/json/json.js';
import { type RequestBody, readBody } from './body.js';
import { rdfPatches } from './methods.js';
import { insertedBy } from './patch-absent.js';
import { assertPreconditions, dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';
import type { WriteRequest } from './write.js';

/** Maximum size of an ACL, in bytes: each access decision reads ACLs. */
const longestAcl = 256 << 10;

/**
 * Rejects an invalid ACL, whether a client wrote it or an import read it.
 * @throws LwsError `too-large`; `unsupported-rdf` for terms of RDF 1.2; `bad-request` for an agent that is not an identity;
 * `conflict` for a root ACL without control, because no ancestor ACL can replace it (rules 3.9, 3.13)
 */
export function assertUsableAcl({ rootIri }: Pick<Storage, 'rootIri'>, iri: string, keys: readonly string[]): void {
  if (keys.reduce((sum, { length }) => sum + length, 0) > 2 * longestAcl)
    throw new LwsError('too-large', `The ACL would exceed the limit of ${longestAcl >> 10} KiB.`);
  if (versionOf(keys))
    throw new LwsError('unsupported-rdf', 'An ACL cannot have triple terms or base directions (RDF 1.2).');
  const unknown = agentsOfGraph(keys).find((agent) => !isIdentity(agent));
  if (unknown !== undefined) throw noIdentity(unknown);
  if (iri === rootIri && !leavesControl(aclOfGraph(iri, keys)))
    throw new LwsError(
      'conflict',
      'The ACL of the root must name an acl:agent with acl:Control by acl:accessTo. Otherwise, no one could change it any more.',
    );
}

/** Request for an ACL. `iri` is the resource that the ACL applies to. */
export type AclRequest = Pick<WriteRequest, 'iri' | 'access' | 'preconditions'>;

/** Resource that the caller controls, and its ACL if it has one. */
export interface ControlledResource {
  readonly record: ResourceRecord;
  readonly acl: AclDocument | undefined;
}

/** Requires control of a resource. @throws LwsError as `requireAccess`, also if the resource does not exist */
export async function requireControl(
  storage: Storage,
  view: View,
  access: Access,
  iri: string,
): Promise<ControlledResource> {
  const record = await requireAccess(storage, view, access, 'control', iri);
  const document = aclDocumentOf(view, record);
  return { record, acl: document && !aclOfGraph(iri, document.keys).isEmpty ? document : undefined };
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
      throw new LwsError('unsupported-media-type', `An ACL must be RDF. Send one of ${rdfFormats.join(', ')}.`);
  };
  return writeAcl({ storage, index, assertType }, request, async () => {
    const bytes = await readBody(body, longestAcl);
    const graph = await storage.documents.parse(bytes, body.mediaType as RdfFormat, request.iri);
    return async () => ({ graph });
  });
}

/** Triples of an ACL, and the prefixes to serialize them with. */
type AclGraph = Pick<AclDocument, 'keys' | 'prefixes'>;

export interface WrittenAcl {
  readonly acl: AclDocument;
  readonly created: boolean;
}

/**
 * Patches an ACL, or creates it with an update that only inserts. References are relative to the resource, as in a PUT.
 * @throws LwsError `not-found` if there is no ACL and the update does more than insert, `unsupported-media-type`,
 * `precondition-required`, `precondition-failed`, `too-large`, `malformed-body`, `conflict` as `putAcl`
 */
export async function patchAcl(storage: Storage, index: AclIndex, request: AclWrite): Promise<WrittenAcl> {
  const { iri, body } = request;
  const assertType = (): void => {
    const patches = rdfPatches(storage);
    if (!patches.includes(body.mediaType))
      throw new LwsError(
        'unsupported-media-type',
        `An ACL cannot be patched with this media type. Send ${patches.join(' or ')}.`,
        {
          fields: { 'Accept-Patch': patches.join(', ') },
        },
      );
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

/** New ACL. `seen` is the ACL it was computed from; absent: the new ACL does not depend on an existing one. */
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

/** Writes the ACL. @param receive reads the body, and returns a function that computes the new ACL from the current one */
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
  const prepare = async (): Promise<NewAcl> => {
    const computed = await compute(await admit(storage.store));
    assertUsableAcl(storage, iri, computed.graph.keys);
    return computed;
  };
  const work = async (tx: Transaction, { graph: { prefixes, keys }, seen }: NewAcl): Promise<WrittenAcl> => {
    attribute(tx, access);
    const found = await admit(tx);
    if (seen && found.acl?.revision !== seen.revision) throw new Again(iri);
    // Rule 6.13: a patch that changes nothing keeps the tag.
    if (seen && found.acl && isDeepStrictEqual(found.acl.keys, keys)) return { acl: found.acl, created: false };
    const acl = { revision: newRevision(), ...dateAfter(found.acl, storage.clock()), prefixes, keys };
    stageAcl(tx, index, found.record, acl);
    return { acl, created: found.acl === undefined };
  };
  return storage.store.transact(work, { prepare });
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
  if (change.revision !== acl.revision) throw new Again(iri);
  return { keys: applied(acl.keys, change).keys, prefixes: change.prefixes };
}

/** Stages an ACL. The record of the resource gets the ACL's revision, so that the ACL is deleted with the resource. */
export function stageAcl(tx: Transaction, index: AclIndex, record: ResourceRecord, acl: AclDocument): void {
  index.stage(record.iri);
  tx.putEntry(aclKey(record.iri), JSON.stringify(acl));
  tx.putRecord({ ...record, acl: acl.revision });
}

/**
 * Deletes an ACL, so that the nearest container's ACL applies again.
 * @throws LwsError `not-found` if there is no ACL, `root-not-deletable`, `precondition-failed`
 */
export async function deleteAcl(storage: Storage, request: AclRequest): Promise<void> {
  const { iri, access } = request;
  // Evaluate permissions before the transaction too: this fetches remote groups, which a transaction must not wait for.
  await requireControl(storage, storage.store, access, iri);
  const work = async (tx: Transaction): Promise<void> => {
    const found = await requireControl(storage, tx, access, iri);
    if (!found.acl) throw noAcl();
    if (iri === storage.rootIri)
      throw new LwsError(
        'root-not-deletable',
        'The ACL of the root cannot be deleted: it applies to every resource without an ACL of its own.',
      );
    assertState(request, found, false);
    const { acl: _flag, ...record } = found.record;
    tx.putRecord(record);
    tx.deleteEntry(aclKey(iri));
  };
  await storage.store.transact(work, { frees: true });
}

export const noAcl = (): LwsError =>
  new LwsError('not-found', 'The resource has no ACL of its own. The ACL of the nearest container applies.', {
    reason: 'no own ACL',
  });

/** Checks the preconditions against the ACL, not against the resource. */
function assertState({ preconditions }: AclRequest, { acl }: ControlledResource, required: boolean): void {
  assertPreconditions(preconditions, acl, acl?.revision, required);
}
