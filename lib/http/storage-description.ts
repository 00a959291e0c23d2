/**
 * The storage description: a controlled identifier document (service.md, "Storage description"), folded over what the
 * installed components advertise. It must not know any component.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { formatEntityTag } from '../fields/etag.js';
import { formatLink } from '../fields/link.js';
import { cidContext, lwsContext } from '../rdf/contexts.js';
import { ldp, lws } from '../rdf/vocabulary.js';
import { linksetOf } from '../resources/names.js';
import { isNotModified } from '../resources/preconditions.js';
import { lwsCid } from './negotiate.js';
import { preconditions } from './request.js';
import type { Reply } from './respond.js';

/** An entry of `service`: its type, its endpoint, and what else it says. */
export interface ServiceEntry {
  readonly type: string;
  readonly serviceEndpoint: string;
  readonly [member: string]: unknown;
}

export interface CapabilityEntry {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Advertised {
  readonly services: readonly ServiceEntry[];
  readonly capabilities: readonly CapabilityEntry[];
}

/** The document, made once: it changes only with the configuration. */
export interface StorageDescription {
  readonly bytes: Buffer;
  readonly tag: string;
}

export function describeStorage(storage: string, { services, capabilities }: Advertised): StorageDescription {
  const document = {
    '@context': [cidContext, lwsContext],
    id: storage,
    type: 'Storage',
    ...(capabilities.length > 0 ? { capability: capabilities } : {}),
    service: [{ type: 'StorageRoot', serviceEndpoint: storage }, ...services],
  };
  const bytes = Buffer.from(JSON.stringify(document));
  return { bytes, tag: createHash('sha256').update(bytes).digest('base64url').slice(0, 16) };
}

/** Answers with the description; it is public. */
export function descriptionReply(
  req: IncomingMessage,
  { bytes, tag }: StorageDescription,
  storage: string,
  mediaType: string = lwsCid,
): Reply {
  // The tag of the container must not look like this one: they are two resources that share the root's URL.
  const opaque = `description.${tag}${mediaType === lwsCid ? '' : '.j'}`;
  const fields = {
    'Content-Type': mediaType,
    ETag: formatEntityTag(opaque),
    Vary: 'Accept',
    'Cache-Control': 'public, no-cache',
    Link: [
      formatLink(ldp.Resource, 'type'),
      formatLink(ldp.BasicContainer, 'type'),
      formatLink(lws.Container, 'type'),
      formatLink(storage, lws.storage),
      formatLink(linksetOf(storage), 'linkset', { type: 'application/linkset+json' }),
    ].join(', '),
  };
  if (isNotModified({ ifNoneMatch: preconditions(req).ifNoneMatch }, opaque, 0)) return { status: 304, fields };
  return { status: 200, fields, body: bytes };
}
