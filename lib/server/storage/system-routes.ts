/** Fixed routes of the server. */

import { catalogPath } from '../../http/catalog.js';
import type { Reply } from '../../http/reply.js';
import { type Route, route } from '../../http/route.js';
import {
  chooseCatalog,
  chooseDescriptionType,
  descriptionReply,
  type StorageDescription,
} from '../../http/storage-description.js';
import type { Storage } from '../../resources/storage.js';
import type { Store } from '../../storage/transactions/store.js';

export const systemRoutes = (storage: Storage, description: StorageDescription): readonly Route[] => [
  route('public', 'GET HEAD {prefix}/storage-description', ({ req }) =>
    descriptionReply(req, storage, description, chooseDescriptionType(req.headers.accept)),
  ),
  ...(description.catalog ? [catalogRoute(storage, description.catalog)] : []),
  route('public', 'GET HEAD {prefix}/health/live', () => answer(true)),
  // No check of the indexes is needed: the server listens only after they are rebuilt.
  route('public', 'GET HEAD {prefix}/health/ready', async () => answer(await isWritable(storage.store))),
];

const catalogRoute = (storage: Storage, catalog: StorageDescription): Route =>
  route('public', `GET HEAD {prefix}${catalogPath}`, ({ req }) =>
    descriptionReply(req, storage, catalog, chooseCatalog(req.headers.accept)),
  );

/** Returns true if LevelDB is open and has accepted the last batch, the disk has space, and blobs are accepted. */
async function isWritable(store: Store): Promise<boolean> {
  if (!store.isOpen || store.commits.hasFailed) return false;
  return store.blobs.assertReady().then(
    () => true,
    () => false,
  );
}

const fields = {
  'Content-Type': 'text/plain; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

const answer = (isWell: boolean): Reply =>
  isWell
    ? { status: 200, fields, body: Buffer.from('ok\n') }
    : { status: 503, fields: { ...fields, 'Retry-After': '10' }, body: Buffer.from('not ready\n') };
