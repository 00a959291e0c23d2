/**
 * Downloads by a link: a ticket is a JWT of one resource, one subject and one minute (`POST /app/tickets`), and what it stands for is
 * authorized again when it is used.
 */
import { createPublicKey, randomUUID } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import { type Access, requireAccess } from '../../lib/component/access.js';
import { LwsError, type Platform } from '../../lib/component/basics.js';
import { nameOf } from '../../lib/component/entries.js';
import { jsonReply, type Reply, type Route, type RouteRequest, readJsonObject } from '../../lib/component/http.js';

const validSeconds = 60;
const type = 'ticket+jwt';

export const ticketRoutes = (platform: Platform): readonly Route[] => [
  { methods: ['POST'], path: '/app/tickets', access: 'filtered', handle: (request) => issue(platform, request) },
  {
    methods: ['GET', 'HEAD'],
    path: '/app/tickets',
    access: 'public',
    handle: (request) => redeem(platform, request),
  },
];

async function issue(platform: Platform, request: RouteRequest): Promise<Reply> {
  const { iri } = await readJsonObject(request);
  if (typeof iri !== 'string' || !iri.startsWith(platform.rootIri) || iri.endsWith('/'))
    throw new LwsError('bad-request', 'The member iri is the IRI of a resource of this storage that is no container.');
  await requireAccess(platform, platform.store, request.access, 'read', iri);
  const { principal, origin, purpose } = request.access;
  const ticket = await new SignJWT({
    resource: iri,
    // Everything that the decision was about.
    ...(principal ? { sub: principal.subject, client_id: principal.client, issuer: principal.issuer } : {}),
    ...(origin === undefined ? {} : { origin }),
    ...(purpose === undefined ? {} : { purpose }),
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: type })
    .setAudience(`${platform.baseUri}/app/tickets`)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + validSeconds)
    .setJti(randomUUID())
    .sign(platform.signingKey.key);
  return jsonReply(201, { url: `${platform.baseUri}/app/tickets?ticket=${ticket}`, expires_in: validSeconds });
}

async function redeem(platform: Platform, request: RouteRequest): Promise<Reply> {
  const { resource, access } = await read(platform, request.query.get('ticket') ?? '');
  const reply = await platform.read({ req: request.req, access }, resource);
  if (reply.status !== 200 && reply.status !== 206) return reply;
  return {
    ...reply,
    fields: {
      ...reply.fields,
      'Content-Disposition': `attachment; filename*=UTF-8''${fileName(resource)}`,
      'Cache-Control': 'private, no-store',
      'Referrer-Policy': 'no-referrer',
    },
  };
}

/** The name as it stands in the IRI: percent-encoded already, but for what RFC 8187 wants encoded too. */
const fileName = (iri: string): string =>
  nameOf(iri).replace(/[^A-Za-z0-9%!#$&+\-.^_`|~]/g, (char) => encodeURIComponent(char).replace(/['()*]/g, hex));
const hex = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

async function read(platform: Platform, ticket: string): Promise<{ resource: string; access: Access }> {
  try {
    const { payload } = await jwtVerify(ticket, createPublicKey(platform.signingKey.key), {
      typ: type,
      audience: `${platform.baseUri}/app/tickets`,
      algorithms: ['EdDSA'],
    });
    const { sub, client_id, issuer, origin, purpose, resource } = payload as Record<string, string | undefined>;
    const principal =
      sub === undefined ? undefined : { subject: sub, ...(client_id ? { client: client_id } : {}), issuer: issuer! };
    return {
      resource: resource!,
      access: {
        ...(principal ? { principal } : {}),
        ...(origin === undefined ? {} : { origin }),
        ...(purpose === undefined ? {} : { purpose }),
      },
    };
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    throw new LwsError('not-found', 'This link has expired. Ask for the download again.', { reason: error.message });
  }
}
