/** The fixed routes of the house itself. */
import { chooseMediaType, parseAccept } from '../fields/accept.js';
import { lwsCid } from '../http/negotiate.js';
import type { Route } from '../http/route.js';
import { descriptionReply, type StorageDescription } from '../http/storage-description.js';

const descriptionTypes = [lwsCid, 'application/ld+json', 'application/json'];

export const systemRoutes = (storage: string, description: StorageDescription): readonly Route[] => [
  {
    methods: ['GET', 'HEAD'],
    path: '{prefix}/storage-description',
    access: 'public',
    handle: ({ req }) => {
      const ranges = req.headers.accept === undefined ? undefined : parseAccept(req.headers.accept);
      return descriptionReply(
        req,
        description,
        storage,
        (ranges && chooseMediaType(ranges, descriptionTypes)) ?? lwsCid,
      );
    },
  },
];
