/**
 * What keeps other web sites out of a storage that is open to everybody who reaches it: a page in a developer's browser reaches it too. A
 * name of its own that points here (DNS rebinding) would make a site the same origin; a form needs no answer to do harm.
 */
import type { IncomingMessage } from 'node:http';
import { LwsError } from '../errors.js';
import type { AppContext } from './app-context.js';
import type { Step } from './exchange.js';

const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;
const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY']);

/** Refuses requests for another host, and writes of other sites but for the listed origins. */
export function openMode({ isOpen, origin, cors }: AppContext): Step {
  if (!isOpen) return (_ctx, next) => next();
  const { host, hostname, protocol } = new URL(origin);
  // Of nearly every request, and parsing one costs as much as a step.
  let last = host;
  const isOurs = (asked: string): boolean => {
    if (asked === last) return true;
    const found = URL.canParse(`${protocol}//${asked}`) ? new URL(`${protocol}//${asked}`) : undefined;
    if (found === undefined || (found.host !== host && !loopback.test(found.hostname))) return false;
    last = asked;
    return true;
  };
  const isListed = (from: string): boolean => cors.allowedOrigins.includes('*') || cors.allowedOrigins.includes(from);
  return ({ req }, next) => {
    if (!isOurs(req.headers.host ?? host))
      throw new LwsError('misdirected-request', `This storage is open to everybody, under ${origin} alone.`);
    if (!safe.has(req.method!) && !(req.headers.origin && isListed(req.headers.origin)) && isOfOtherSite(req, hostname))
      throw new LwsError(
        'forbidden',
        'This storage is open to everybody, but not to the pages of other sites. lws.cors.allowed-origins lets them in.',
      );
    return next();
  };
}

/** Programs send none of these fields. */
function isOfOtherSite({ headers }: IncomingMessage, hostname: string): boolean {
  const appContext = headers['sec-fetch-site'];
  if (appContext !== undefined) return appContext === 'cross-site';
  const { origin } = headers;
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).hostname === hostname);
}
