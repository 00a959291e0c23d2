/** Access requests, and access grants, which add permissions to the base model (rule 17.4). */
import { isDeepStrictEqual } from 'node:util';
import { callerOf } from '../../lib/authorization/audit.js';
import { controls } from '../../lib/authorization/guard.js';
import { defineComponent } from '../../lib/component/component.js';
import type { Platform } from '../../lib/component/contract.js';
import { flag, integer, optional, setting, text } from '../../lib/settings/settings.js';
import { entryRange } from '../../lib/storage/keys/records.js';
import { FollowedEntries } from '../../lib/storage/transactions/followed-entries.js';
import type { Transaction } from '../../lib/storage/transactions/transaction.js';
import { withTargets } from './access-documents.js';
import { GrantIndex } from './grant-index.js';
import { foreignDocument, KeptIndex, readKept, type Space } from './kept-index.js';
import { type DocumentsEndpoint, documentRoutes, documentsUrl } from './routes.js';
import { requestAccessTool } from './tools.js';

const settings = {
  enabled: setting(
    'lws.access-requests.enabled',
    flag,
    true,
    'Accept access requests and access grants, and enforce the grants.',
    'storage',
  ),
  requestBytes: setting(
    'lws.access-requests.max-bytes',
    integer(1),
    16 << 10,
    'Maximum size of an access request, in bytes.',
  ),
  perSubject: setting(
    'lws.access-requests.max-per-subject',
    integer(1),
    100,
    'Maximum unread access requests per subject.',
  ),
  perAddress: setting(
    'lws.access-requests.max-per-address',
    integer(1),
    200,
    'Maximum unread access requests per client address.',
  ),
  inAll: setting('lws.access-requests.max-waiting', integer(1), 1_000, 'Maximum unread access requests in total.'),
  controllerInbox: setting(
    'lws.access-requests.controller-inbox',
    optional(text('an http or https URL')),
    null,
    'Inbox URL that is notified of every access request and grant.',
    'storage',
  ),
};

const longestGrant = 256 << 10;

const conformsTo = ['https://www.w3.org/ns/lws#AccessProfile'];

export default defineComponent({
  name: 'access-grants',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { controllerInbox, requestBytes, ...limits }) {
    const open = async (space: Space): Promise<DocumentsEndpoint> => ({
      platform,
      space,
      type: space === 'access-grants' ? 'AccessGrant' : 'AccessRequest',
      controllerInbox,
      index: await KeptIndex.open(platform, space),
      longest: space === 'access-grants' ? longestGrant : requestBytes,
      requests: limits,
    });
    platform.store.onTransaction((tx) => moveGrants(platform, tx));
    const [requests, grants] = [await open('access-requests'), await open('access-grants')];
    return {
      routes: [...documentRoutes(requests), ...documentRoutes(grants)],
      services: [
        { type: 'AccessRequestService', serviceEndpoint: documentsUrl(requests), conformsTo },
        { type: 'AccessGrantService', serviceEndpoint: documentsUrl(grants), conformsTo },
      ],
      permissions: [await indexGrants(platform)],
      tools: [requestAccessTool(requests)],
      readState(space, name, value) {
        const endpoint = [requests, grants].find((each) => each.space === space);
        const here = endpoint && { id: `${documentsUrl(endpoint)}/${name}`, storage: platform.rootIri };
        return here && foreignDocument(value, endpoint.type, here);
      },
    };
  },
});

/** Renames the targets of grants if a controller of the storage moves their resources (rule 6.25). */
async function moveGrants(platform: Platform, tx: Transaction): Promise<void> {
  const access = callerOf(tx);
  if (tx.moves.length === 0 || (access && !(await controls(platform, tx, access)))) return;
  for (const [key, value] of await tx.entriesIn(entryRange('access-grants'))) {
    const kept = readKept(value);
    const document = tx.moves.reduce(
      (moved, rewriting) => withTargets(moved, (iri) => rewriting.iri(iri)),
      kept.document,
    );
    if (!isDeepStrictEqual(document, kept.document)) tx.putEntry(key, JSON.stringify({ ...kept, document }));
  }
}

/** Returns the index of active grants. Updates it before a commit is acknowledged: revocations take effect immediately. */
async function indexGrants(platform: Platform): Promise<GrantIndex> {
  const index = new GrantIndex(platform);
  await FollowedEntries.open(platform.store, {
    space: 'access-grants',
    read: readKept,
    changed: (_name, before, after) => {
      if (before) index.remove(before);
      if (after) index.add(after);
    },
  });
  return index;
}
