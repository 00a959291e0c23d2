/** Selects the error for callers without permission (rule 4.3). Without read access, it must not reveal what exists. */

import type { Profile } from '../settings/profile.js';
import { parentOf, type ResourceRecord } from '../storage/keys/records.js';
import { LwsError } from '../tools/errors.js';
import { recordDecision } from './audit.js';
import type { Authorizer, Decision, Question, View } from './authorizer.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

export interface Guard {
  readonly authorizer: Authorizer;
  readonly rootIri: string;
  /** True if callers without read access get the response for a nonexistent resource (`lws.mask-forbidden-as-not-found`). */
  readonly mask: boolean;
  /** Protocol changes by `lws.profile`, if any. */
  readonly profile?: Profile | undefined;
}

/**
 * Requires a mode on an existing resource, and returns its record.
 * @throws LwsError `unauthenticated`, `forbidden` or `not-found`, depending on whether the caller can read the resource
 */
export function requireAccess(
  guard: Guard,
  view: View,
  access: Access,
  mode: Mode,
  iri: string,
): ResourceRecord | Promise<ResourceRecord> {
  const record = view.record(iri);
  const isAllowed = record !== undefined && decided(guard, { view, access, mode, iri, record });
  // Fast path without a promise: most decisions are synchronous.
  return record && isAllowed === true ? record : grantedLater(guard, { view, access, mode, iri, record }, isAllowed);
}

async function grantedLater(
  guard: Guard,
  { view, access, mode, iri, record }: Omit<Question, 'record'> & { readonly record: ResourceRecord | undefined },
  isAllowed: boolean | Promise<boolean>,
): Promise<ResourceRecord> {
  if (!record) throw await refusalOfAbsent(guard, view, access, iri);
  if (await isAllowed) {
    // The record may have changed during an asynchronous decision, so the current record is returned.
    const current = view.record(iri);
    if (current) return current;
    throw await refusalOfAbsent(guard, view, access, iri);
  }
  const readable = mode !== 'read' && (await guard.authorizer.allows({ view, access, mode: 'read', iri, record }));
  throw refusal(guard, access, mode, readable);
}

/** Requires one of two modes on an existing resource. @throws LwsError as `requireAccess` for the second mode */
export async function requireEither(
  guard: Guard,
  asked: Omit<Question, 'mode'>,
  [first, second]: readonly [Mode, Mode],
): Promise<ResourceRecord> {
  const { view, access, iri } = asked;
  const record = view.record(iri);
  const isAllowed = record !== undefined && (await decided(guard, { view, access, mode: first, iri, record }));
  return (isAllowed && view.record(iri)) || requireAccess(guard, view, access, second, iri);
}

/**
 * Requires the permissions of a PUT: write on an existing resource. For a nonexistent resource, append on the parent, or on the
 * nearest existing container if the profile creates missing parents (rule 20.4).
 * @returns the record of the resource, if the resource exists
 * @throws LwsError as `requireAccess`; `parent-not-found` if the caller may learn that the parent does not exist
 */
export async function requirePut(
  guard: Guard,
  view: View,
  access: Access,
  iri: string,
): Promise<ResourceRecord | undefined> {
  const record = view.record(iri);
  const may = (mode: Mode, of: ResourceRecord): boolean | Promise<boolean> =>
    decided(guard, { view, access, mode, iri: of.iri, record: of });
  if (record && (await may('write', record))) return record;
  if (record && (await may('read', record))) throw refusal(guard, access, 'write', true);
  // Below, the resource does not exist, or the caller cannot read it and gets the same response.
  const parent = parentOf(iri);
  const container = guard.profile?.makesParents ? nearestContainer(guard, view, parent) : view.record(parent);
  if (!container) throw asParent(parent, await refusalOfAbsent(guard, view, access, parent));
  if (await may('append', container)) {
    if (!record) return undefined;
    // The resource exists, which a caller with append access may learn. The error is the same as for other methods.
    throw refusal(guard, access, 'write', false);
  }
  throw asParent(parent, refusal(guard, access, 'append', await may('read', container)));
}

/** Returns the record of a container, or of its nearest existing ancestor. */
export function nearestContainer(
  { rootIri }: Pick<Guard, 'rootIri'>,
  view: View,
  iri: string,
): ResourceRecord | undefined {
  for (let at = iri; at.startsWith(rootIri); at = parentOf(at)) {
    const record = view.record(at);
    if (record) return record;
  }
  return undefined;
}

/** Converts an error about the parent. Masked and nonexistent parents get the same message, with the requested IRI. */
const asParent = (parent: string, refused: LwsError): LwsError =>
  refused.code === 'not-found'
    ? new LwsError('parent-not-found', `The container ${parent} does not exist. Create it first.`, {
        ...(refused.reason === undefined ? {} : { reason: refused.reason }),
      })
    : refused;

/** Returns whether the caller has a permission, and records the decision for the log line. */
function decided({ authorizer }: Guard, question: Question): boolean | Promise<boolean> {
  const told = (decision: Decision): boolean => {
    recordDecision(question.access, question.mode, question.iri, decision);
    return decision.allowed;
  };
  const decision = authorizer.decide(question);
  return decision instanceof Promise ? decision.then(told) : told(decision);
}

/** Returns the error for a nonexistent resource. Anonymous callers get 404 only if they can read the nearest container. */
export async function refusalOfAbsent(guard: Guard, view: View, access: Access, iri: string): Promise<LwsError> {
  if (access.principal) {
    const isTold = guard.mask || !guard.profile?.refusesAbsent || (await wouldRead(guard, { view, access, iri }));
    return isTold ? notFound('absent') : refusal(guard, access, 'read', false);
  }
  for (let parent = parentOf(iri); parent.startsWith(guard.rootIri); parent = parentOf(parent)) {
    const record = view.record(parent);
    if (!record) continue;
    if (await guard.authorizer.allows({ view, access, mode: 'read', iri: parent, record })) return notFound('absent');
    break;
  }
  return unauthenticated('does not exist, and the anonymous caller may not read the container');
}

/** True if the caller could read a resource at an IRI where none exists (rule 20.3). */
function wouldRead(guard: Guard, question: Omit<Question, 'mode'>): boolean | Promise<boolean> {
  const record = nearestContainer(guard, question.view, parentOf(question.iri));
  return !record || guard.authorizer.allows({ ...question, mode: 'read', record });
}

function refusal(guard: Guard, access: Access, mode: Mode, readable: boolean): LwsError {
  if (!access.principal) return unauthenticated(`anonymous lacks ${mode}`);
  const reason = `${access.principal.subject} lacks ${mode}`;
  if (readable || !guard.mask) return new LwsError('forbidden', 'You are not allowed to do this.', { reason });
  return notFound(reason);
}

/** Returns the error for nonexistent and masked resources. */
export const notFound = (reason: string): LwsError =>
  new LwsError('not-found', 'The resource does not exist, or you are not allowed to see it.', { reason });

const unauthenticated = (reason: string): LwsError =>
  new LwsError('unauthenticated', 'This request requires a credential. Send an Authorization header field.', {
    reason,
  });

/** True if the caller controls the storage, with everything in it. */
export const controls = async (
  { authorizer, rootIri: iri }: Omit<Guard, 'mask'>,
  view: View,
  access: Access,
): Promise<boolean> => authorizer.allows({ view, access, mode: 'control', iri });
