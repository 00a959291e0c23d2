/** The small endpoints that the console asks, and JSON in for all of them. */
import { type Mode, requireAccess } from '../../lib/component/access.js';
import { LwsError, type Platform, packageVersion } from '../../lib/component/basics.js';
import { decodeUtf8, parseJson } from '../../lib/component/fields.js';
import { jsonReply, type Route, type RouteRequest, readBody } from '../../lib/component/http.js';

const longestBody = 16 << 10;

/** @throws LwsError `unsupported-media-type`, `malformed-body`, `too-large` */
export async function readJsonObject({ body: open }: RouteRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = open();
  if (body.mediaType !== 'application/json')
    throw new LwsError('unsupported-media-type', 'The request is sent as application/json.');
  const value: unknown = parseJson(decodeUtf8(await readBody(body, longestBody)));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LwsError('malformed-body', 'The body is a JSON object.');
  return value as Record<string, unknown>;
}

/** Why somebody may do something, or may not: the command `explain`, for the console. */
export const explainRoute = ({ explain }: Platform): Route => ({
  methods: ['GET', 'HEAD'],
  path: '{prefix}/explain',
  access: 'controller',
  async handle({ query }) {
    const [subject, method, iri] = ['as', 'method', 'iri'].map((name) => query.get(name) ?? '');
    if (!iri) throw new LwsError('bad-request', 'The query has to name an iri.');
    return jsonReply(
      200,
      await explain({
        access: subject ? { principal: { subject } } : {},
        method: (method || 'GET').toUpperCase(),
        iri,
      }),
    );
  },
});

/** What the caller may do with a resource, so that the console offers nothing else. */
export const rightsRoute = (platform: Platform): Route => ({
  methods: ['GET', 'HEAD'],
  path: '/app/rights',
  access: 'filtered',
  async handle({ access, query }) {
    const { store: view, authorizer, rootIri, addedOwners } = platform;
    const iri = query.get('iri') ?? '';
    if (!iri.startsWith(rootIri)) throw new LwsError('bad-request', 'The query has to name an iri of this storage.');
    await requireAccess(platform, view, access, 'read', iri);
    const may = async (mode: Mode, of = iri): Promise<boolean> => authorizer.allows({ view, access, mode, iri: of });
    // Grants are given by who controls the storage; access control lists are changed by who controls the resource.
    const share = (await may('control', rootIri)) || (addedOwners === undefined && (await may('control')));
    return jsonReply(200, { append: await may('append'), write: await may('write'), share });
  },
});

/** How the storage is: versions, room, and the settings in force. */
export function statusRoute({ store, clock, describeSettings }: Platform): Route {
  const version = packageVersion();
  const started = clock();
  const settings = describeSettings();
  const quota = settings.find(({ name }) => name === 'lws.quota.max-bytes')?.value;
  return {
    methods: ['GET', 'HEAD'],
    path: '{prefix}/status',
    access: 'controller',
    handle: () =>
      jsonReply(200, {
        version,
        node: process.version,
        uptimeSeconds: Math.max(0, Math.floor((clock() - started) / 1000)),
        bytes: store.bytes,
        /** 0: no limit. */
        quotaBytes: quota,
        settings,
      }),
  };
}
