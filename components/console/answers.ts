/** Small endpoints of the console. */

import { createPublicKey, randomUUID } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { errors, jwtVerify, SignJWT } from 'jose';
import { LwsError, type Platform } from '../../lib/plugin/component.js';
import {
  type Access,
  jsonReply,
  type Mode,
  type Reply,
  type Route,
  type RouteRequest,
  readJsonObject,
  requireAccess,
  route,
} from '../../lib/plugin/requests.js';
import { nameOf } from '../../lib/plugin/state.js';

/** Returns the route that explains an access decision, as the command `explain` does. */
export const explainRoute = ({ administration: { explain } }: Platform): Route =>
  route('controller', 'GET HEAD {prefix}/explain', async ({ query }) => {
    const [subject, method, iri] = ['as', 'method', 'iri'].map((name) => query.get(name) ?? '');
    if (!iri) throw new LwsError('bad-request', 'The query parameter iri is required.');
    const access = subject ? { principal: { subject } } : {};
    return jsonReply(200, await explain({ access, method: (method || 'GET').toUpperCase(), iri }));
  });

/** Returns the route with the caller's permissions on a resource, so that the console offers only allowed actions. */
export const rightsRoute = (platform: Platform): Route =>
  route('filtered', 'GET HEAD /app/rights', async ({ access, query }) => {
    const { store: view, authorizer, rootIri, administration } = platform;
    const iri = query.get('iri') ?? '';
    if (!iri.startsWith(rootIri))
      throw new LwsError('bad-request', 'The query parameter iri must be the IRI of a resource of this storage.');
    await requireAccess(platform, view, access, 'read', iri);
    const may = async (mode: Mode, of = iri): Promise<boolean> => authorizer.allows({ view, access, mode, iri: of });
    // Grants require control of the storage. Access control lists require control of the resource.
    const share =
      (await may('control', rootIri)) || (administration.addedOwners === undefined && (await may('control')));
    return jsonReply(200, { append: await may('append'), write: await may('write'), share });
  });

/** Returns the route with the size of a container and all its descendants that the caller can read (rule 9.6). */
export const sizeRoute = ({ administration: { folderSize }, rootIri }: Platform): Route =>
  route('filtered', 'GET HEAD /app/size', async ({ access, query }) => {
    const iri = query.get('iri') ?? '';
    if (!iri.startsWith(rootIri) || !iri.endsWith('/'))
      throw new LwsError('bad-request', 'The query parameter iri must be the IRI of a container of this storage.');
    return jsonReply(200, await folderSize(access, iri));
  });

const indexMetric = 'index_';

/** Returns the route with the status of the storage: versions, disk usage, counts, last backup, query index and settings. */
export function statusRoute(platform: Platform): Route {
  const { store, clock, dataDir, home, rootIri } = platform;
  const { describeSettings, version, metrics } = platform.administration;
  // Rule 21.2: the other storages of a deployment reveal nothing about the server.
  const isOfServer = home === undefined || home === rootIri;
  const started = clock();
  const settings = describeSettings();
  const quota = settings.find(({ name }) => name === 'lws.quota.max-bytes')?.value;
  return route('controller', 'GET HEAD {prefix}/status', async () => {
    const all = await metrics();
    const ofIndex = all.filter(({ name }) => name.startsWith(indexMetric));
    const measured = (metric: string): number | undefined => all.find(({ name }) => name === metric)?.values[0]?.value;
    const disk = isOfServer ? await statfs(dataDir) : undefined;
    const lastBackup = measured('backup_last_timestamp_seconds');
    return jsonReply(200, {
      version,
      node: process.version,
      uptimeSeconds: Math.max(0, Math.floor((clock() - started) / 1000)),
      bytes: store.bytes,
      resources: measured('store_resources'),
      triples: measured('store_quads'),
      /** True if a defect of LevelDB can bring deleted data back in this storage. */
      deletedCanReturn: measured('store_deleted_can_return') === 1,
      /** Quota in bytes. 0: no limit. */
      quotaBytes: quota,
      ...(disk && {
        freeBytes: disk.bavail * disk.bsize,
        queries: { running: measured('sparql_threads_busy'), waiting: measured('sparql_queries_waiting') },
      }),
      lastBackup: lastBackup && new Date(lastBackup * 1000).toISOString(),
      /** Metrics of the index without their prefix: quads, memory_bytes, changed_graphs, building, build_seconds. */
      index: Object.fromEntries(ofIndex.map(({ name, values }) => [name.slice(indexMetric.length), values[0]?.value])),
      settings,
    });
  });
}

const validSeconds = 60;
const type = 'ticket+jwt';

export const ticketRoutes = (platform: Platform): readonly Route[] => [
  route('filtered', 'POST /app/tickets', (request) => issue(platform, request)),
  route('public', 'GET HEAD /app/tickets', (request) => redeem(platform, request)),
];

async function issue(platform: Platform, request: RouteRequest): Promise<Reply> {
  const { iri } = await readJsonObject(request);
  if (typeof iri !== 'string' || !iri.startsWith(platform.rootIri) || iri.endsWith('/'))
    throw new LwsError(
      'bad-request',
      'The member iri must be the IRI of a resource of this storage, and not of a container.',
    );
  await requireAccess(platform, platform.store, request.access, 'read', iri);
  const { principal, origin, purpose } = request.access;
  const ticket = await new SignJWT({
    resource: iri,
    // Claims with the full context of the access decision.
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
  const reply = await platform.administration.read({ req: request.req, access }, resource);
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

/** Returns the name in the IRI, which is percent-encoded. Also encodes the characters that only RFC 8187 encodes. */
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
    throw new LwsError('not-found', 'This link has expired. Request the download again.', { reason: error.message });
  }
}
