/** What a request has to be before anybody is asked who sent it. */
import type { IncomingMessage } from 'node:http';
import { LwsError } from '../errors.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';
import type { Reply } from './reply.js';
import { forwarded } from './request-log.js';
import type { Traffic } from './traffic.js';

/** Refuses what no resource could be asked, and answers `OPTIONS *`. */
export const transportRules =
  (appContext: AppContext, traffic: Traffic): Step =>
  (ctx, next) => {
    const { req } = ctx;
    if (traffic.isClosed) throw new LwsError('too-busy', 'The storage is being closed.');
    if (appContext.requireHttps && !isHttps(appContext, req))
      throw new LwsError('https-required', 'This server answers over HTTPS only.');
    assertFields(req);
    if (req.method !== 'OPTIONS' || req.url !== '*') {
      const { store } = appContext.storage;
      return store.isOpen ? next() : store.opened().then(next);
    }
    ctx.state.exchange.reply = optionsOfServer;
    return undefined;
  };

/** RFC 9112 3.2, 6.1 and RFC 9110 11.6.2: of these fields there is one, and Node takes the first of several. */
function assertFields({ headers, httpVersion, rawHeaders }: IncomingMessage): void {
  const authority = headers[':authority'];
  if (authority !== undefined) {
    // RFC 9113 8.3.1: the two are the same, or something in front of us was told another name.
    if (headers.host !== undefined && headers.host !== authority)
      throw new LwsError('bad-request', 'The Host field is not what :authority says.');
    headers.host = String(authority);
  }
  // It would see every request that a page of this origin makes, for as long as the browser keeps it, and anybody may store a script.
  if (headers['service-worker'] !== undefined)
    throw new LwsError('forbidden', 'Nothing of this storage can be the script of a service worker.');
  if (headers.host === undefined && httpVersion !== '1.0')
    throw new LwsError('bad-request', 'The request has no Host field.');
  for (const name of ['host', 'authorization'] as const) {
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]!.length === name.length && rawHeaders[at]!.toLowerCase() === name) count++;
    if (count > 1) throw new LwsError('bad-request', `The request has more than one ${name} field.`);
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    throw new LwsError('not-implemented', 'Of the transfer codings, chunked is understood, and no other.');
}

const optionsOfServer: Reply = {
  status: 204,
  fields: { Allow: 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE' },
};

const isHttps = ({ behindProxy }: AppContext, req: IncomingMessage): boolean =>
  (behindProxy && forwarded(req, 'x-forwarded-proto') === 'https') || 'encrypted' in req.socket;
