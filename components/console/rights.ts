/** What the caller may do with a resource, so that the console offers nothing else. */
import { type Mode, requireAccess } from '../../lib/component/access.js';
import { LwsError, type Platform } from '../../lib/component/basics.js';
import type { Route } from '../../lib/component/http.js';
import { jsonReply } from './json-messages.js';

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
