/**
 * Containers below the system prefix (subscriptions, access requests and grants) and their members. Listings, conditional
 * requests and pages work as for other containers.
 */

import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { lws } from '../rdf/vocabulary.js';
import {
  jsonDocument,
  type ListedMember,
  type Membership,
  rdfDocument,
  wholeAsPage,
} from '../resources/listing-documents.js';
import { viewState } from '../resources/member-counts.js';
import { assertPreconditions, isNotModified } from '../resources/preconditions.js';
import type { Storage } from '../resources/storage.js';
import { typeLinks } from '../resources/types.js';
import { yieldInLine } from '../tools/event-loop.js';
import { formatHttpDate } from '../tools/fields/date.js';
import { formatEntityTag } from '../tools/fields/etag.js';
import { formatLink } from '../tools/fields/link.js';
import { chooseListing, lwsJson } from './negotiate.js';
import { pageOf } from './paging.js';
import type { Reply } from './reply.js';
import { listingReply } from './represent.js';
import { preconditions } from './request.js';
import type { RouteRequest } from './route.js';

/** Container as seen by one caller. */
export interface SystemContainer {
  readonly iri: string;
  /** Members that the caller can see, in IRI order. */
  readonly members: readonly ListedMember[];
  /** Accepted media types of POST, separated by commas. */
  readonly acceptPost: string;
}

/** Member of a container, as a document. */
export interface SystemMember {
  /** Modification time, in milliseconds since the epoch. */
  readonly modified: number;
  readonly container: string;
  /** Short name of the type in the LWS context. */
  readonly type: string;
  readonly bytes: Buffer;
}

const untrusted = { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': "sandbox; default-src 'none'" };

/** Responds to GET and HEAD. @throws LwsError `precondition-failed`, `invalid-page`, `page-not-found` */
export async function systemContainerReply(
  { rootIri: storage, store, documents, limits }: Storage,
  { req, query }: Pick<RouteRequest, 'req' | 'query'>,
  { iri, members, acceptPost }: SystemContainer,
): Promise<Reply> {
  const { pageSize } = limits;
  const page = pageOf(query.toString());
  const choice = chooseListing(req.headers.accept);
  const state = viewState(members.map((member) => member.iri));
  const container = { iri, revision: state };
  const whole: Membership = {
    members,
    total: members.length,
    state,
    modified: store.record(storage)!.created,
    isPartial: true,
  };
  const from = ((page ?? 1) - 1) * pageSize;
  const listing =
    choice.as === 'json'
      ? jsonDocument(container, { ...whole, members: members.slice(from, from + pageSize) }, { page, pageSize })
      : wholeAsPage(
          pageSize,
          await rdfDocument(container, whole, { documents, format: choice.format, pause: yieldInLine }),
          page,
        );
  const { ifMatch } = preconditions(req);
  assertPreconditions({ ifMatch }, undefined, state);
  const types = typeLinks.container.map((type) => formatLink(type, 'type'));
  const fieldsOf = () => ({
    ...untrusted,
    Link: [...types, formatLink(storage, lws.storage), formatLink(storage, 'up')].join(', '),
    Allow: 'GET, HEAD, POST, OPTIONS',
    'Accept-Post': acceptPost,
  });
  // No content coding, because members may contain secrets.
  return { ...listingReply(req, choice, { iri, fieldsOf, listing }), isCodable: false };
}

const tagOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 16);

/** Returns the fields of a member, also for the response to its creation. */
export const memberFields = (
  storage: string,
  { container, type, bytes, modified }: SystemMember,
): Record<string, string> => ({
  ...untrusted,
  'Content-Type': lwsJson,
  'Cache-Control': 'private, no-store',
  ETag: formatEntityTag(tagOf(bytes)),
  'Last-Modified': formatHttpDate(modified),
  Allow: 'GET, HEAD, DELETE, OPTIONS',
  Link: [
    ...[...typeLinks.json, lws.namespace + type].map((each) => formatLink(each, 'type')),
    formatLink(storage, lws.storage),
    formatLink(container, 'up'),
  ].join(', '),
});

/** Responds to GET and HEAD. @throws LwsError `precondition-failed` */
export function systemMemberReply(storage: string, req: IncomingMessage, member: SystemMember): Reply {
  const { bytes, modified } = member;
  const conditions = preconditions(req);
  assertMemberState({ ...conditions, ifNoneMatch: undefined }, member);
  const fields = memberFields(storage, member);
  if (isNotModified(conditions, tagOf(bytes), { modified })) return { status: 304, fields };
  return { status: 200, fields, body: bytes };
}

/** Checks the preconditions of a DELETE inside its transaction. @throws LwsError `precondition-failed` */
export const assertMemberState = (
  conditions: ReturnType<typeof preconditions>,
  { bytes, modified }: Pick<SystemMember, 'bytes' | 'modified'>,
): void => assertPreconditions(conditions, { modified }, tagOf(bytes));
