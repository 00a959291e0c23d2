/** What a request has to be before anybody is asked who sent it. It must not know resources. */
import type { IncomingMessage } from 'node:http';
import { LwsError } from '../errors.js';
import type { Step } from './exchange.js';
import type { Reply } from './reply.js';
import { forwarded } from './request-log.js';
import type { Site } from './site.js';
import type { Traffic } from './traffic.js';

/** Refuses what no resource could be asked, and answers `OPTIONS *`. */
export const transportRules =
  (site: Site, traffic: Traffic): Step =>
  (ctx, next) => {
    const { req } = ctx;
    if (traffic.isClosed) throw new LwsError('too-busy', 'The storage is being closed.');
    if (site.requireHttps && !isHttps(site, req))
      throw new LwsError('https-required', 'This server answers over HTTPS only.');
    // RFC 9112 3.2
    if (req.headers.host === undefined && req.httpVersion === '1.1')
      throw new LwsError('bad-request', 'The request has no Host field.');
    if (req.method !== 'OPTIONS' || req.url !== '*') return next();
    ctx.state.exchange.reply = optionsOfServer;
    return undefined;
  };

const optionsOfServer: Reply = {
  status: 204,
  fields: { Allow: 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE' },
};

const isHttps = ({ behindProxy }: Site, req: IncomingMessage): boolean =>
  behindProxy && forwarded(req, 'x-forwarded-proto') === 'https';
