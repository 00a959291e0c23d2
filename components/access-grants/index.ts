/** Access requests, and grants that widen what the base model allows (open-points 9). */
import type { House } from '../../lib/component.js';
import { defineComponent } from '../../lib/component.js';
import { flag, optional, setting, text } from '../../lib/settings.js';
import type { Transaction } from '../../lib/storage/transaction.js';
import { GrantIndex } from './grant-index.js';
import { allKept, type KeptDocument, keyOf, readKept } from './kept-documents.js';
import { documentRoutes, type Endpoint, endpointUrl } from './routes.js';

const settings = {
  enabled: setting('lws.access-requests.enabled', flag, true, 'Take access requests, and grants, which are enforced.'),
  controllerInbox: setting(
    'lws.access-requests.controller-inbox',
    optional(text('an http or https URL')),
    null,
    'An inbox that is told of every access request and grant.',
  ),
};

const conformsTo = ['https://www.w3.org/ns/lws#AccessProfile'];

export default defineComponent({
  name: 'access-grants',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(house, { controllerInbox }) {
    const requests: Endpoint = { house, space: 'access-requests', type: 'AccessRequest', controllerInbox };
    const grants: Endpoint = { house, space: 'access-grants', type: 'AccessGrant', controllerInbox };
    return {
      routes: [...documentRoutes(requests), ...documentRoutes(grants)],
      services: [
        { type: 'AccessRequestService', serviceEndpoint: endpointUrl(requests), conformsTo },
        { type: 'AccessGrantService', serviceEndpoint: endpointUrl(grants), conformsTo },
      ],
      permissions: [await indexGrants(house)],
    };
  },
});

/** Reads the grants in force, and follows what is committed before it is acknowledged: a grant is revoked at once. */
async function indexGrants(house: House): Promise<GrantIndex> {
  const index = new GrantIndex(house);
  const known = new Map<string, KeptDocument>();
  const prefix = keyOf('access-grants', '');
  for await (const [name, kept] of allKept(house.store, 'access-grants')) {
    known.set(prefix + name, kept);
    index.add(kept);
  }
  house.store.onCommit(({ entries }: Transaction) => {
    for (const [key, value] of entries) {
      if (!key.startsWith(prefix)) continue;
      const before = known.get(key);
      if (before) index.remove(before);
      known.delete(key);
      if (value === null) continue;
      const kept = readKept(value);
      known.set(key, kept);
      index.add(kept);
    }
  });
  return index;
}
