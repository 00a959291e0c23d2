/** The small endpoints that the console asks. */
import { type Mode, requireAccess } from '../../lib/component/access.js';
import { LwsError, type Platform, packageVersion } from '../../lib/component/basics.js';
import { jsonReply, type Route } from '../../lib/component/http.js';

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
