/** The last step: what is no fixed route is asked of a resource. It must not know what its methods do. */
import { readTarget } from '../resources/names.js';
import type { Step } from './exchange.js';
import { addressOf } from './request-log.js';
import { resourceReply } from './resource-routes.js';
import type { Site } from './site.js';

export const resources =
  (site: Site): Step =>
  async ({ req, res, state: { exchange } }) => {
    const { storage, idleMs, description, resourceQuery } = site;
    exchange.reply = await resourceReply({
      storage,
      description,
      resourceQuery,
      req,
      res,
      access: exchange.access,
      address: addressOf(site, req) ?? '',
      target: readTarget(req.url ?? '/', storage.storage),
      idleMs,
    });
  };
