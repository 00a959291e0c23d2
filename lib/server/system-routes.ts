/** The fixed routes of the house itself. */
import type { Route } from '../http/route.js';
import { chooseDescription, descriptionReply, type StorageDescription } from '../http/storage-description.js';
import type { Storage } from '../resources/storage.js';
import { healthRoutes } from './health.js';

export const systemRoutes = (storage: Storage, description: StorageDescription): readonly Route[] => [
  {
    methods: ['GET', 'HEAD'],
    path: '{prefix}/storage-description',
    access: 'public',
    handle: ({ req }) => descriptionReply(req, storage, description, chooseDescription(req.headers.accept)),
  },
  ...healthRoutes(storage.store),
];
