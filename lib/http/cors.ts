/** Handles cross-origin requests (rule 10.4). Such requests are rejected unless origins are listed in the settings. */
import type { IncomingMessage } from 'node:http';
import { everyOrigin } from '../settings/profile.js';
import type { AppContext, CorsPolicy } from './app-context.js';
import type { Step } from './exchange.js';
import type { Fields, Reply } from './reply.js';

const methods = 'GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE, MOVE, COPY, QUERY';
const requestFields =
  'Accept, Accept-Profile, Authorization, Content-Type, Content-Digest, Content-Encoding, DPoP, Depth, Destination, If-Match, If-Modified-Since, ' +
  'If-None-Match, If-Range, If-Unmodified-Since, Last-Event-ID, Link, LWS-If-Match, LWS-Purpose, Overwrite, Prefer, Range, Slug, ' +
  'traceparent, Want-Content-Digest, Want-Repr-Digest, X-Requested-With';
const exposedFields =
  'Accept-Patch, Accept-Post, Accept-Put, Accept-Query, Accept-Ranges, Allow, Content-Digest, Content-Disposition, Content-Range, ' +
  'DPoP-Nonce, ETag, Last-Modified, Link, Location, LWS-Hint, Preference-Applied, Repr-Digest, Retry-After, Vary, WAC-Allow, Want-Content-Digest, WWW-Authenticate';

/** Field names of RFC 7089, for a storage with versions. */
const [requestForPast, exposedOfPast] = [', Accept-Datetime', ', Content-Location, Memento-Datetime'];

const none: Fields = {};

/** Matches a list of field names. */
const fieldNames = /^[\w!#$%&'*+.^`|~, \t-]+$/;

/** Computes the CORS fields of the response in advance, and answers preflight requests, which have no credential. */
export function cors({ cors: policy, storage: whole }: AppContext): Step {
  const { rootIri: storage, profile } = whole;
  if (policy.allowedOrigins.length === 0) return (_ctx, next) => next();
  const basePath = new URL(storage).pathname.slice(0, -1);
  return ({ req, state: { exchange } }, next) => {
    // Rule 10.4: cross-origin requests never get the console and its callback, even if these are switched off.
    const path = exchange.path.slice(basePath.length);
    if (/^\/(?:app|callback)(?:\/|$)/i.test(path)) return next();
    const hasPast = whole.keepsVersions?.() === true;
    exchange.cors = corsFields(policy, req, hasPast);
    exchange.reply = preflightReply(policy, req, { echoesFields: profile?.echoesFields, hasPast });
    return exchange.reply ? undefined : next();
  };
}

/** Returns the CORS fields of the response to this request. */
function corsFields({ allowedOrigins }: CorsPolicy, req: IncomingMessage, hasPast: boolean): Fields {
  const { origin } = req.headers;
  const isEchoed = allowedOrigins === everyOrigin;
  const any = allowedOrigins.includes('*') && !isEchoed;
  const isAllowed = any || isEchoed || allowedOrigins.includes(origin ?? '');
  if (origin === undefined || !isAllowed) return any ? none : { Vary: 'Origin' };
  return {
    'Access-Control-Allow-Origin': any ? '*' : origin,
    'Access-Control-Expose-Headers': hasPast ? exposedFields + exposedOfPast : exposedFields,
    // For clients that always use credentials mode. It is safe without cookies. Not allowed with `*` (Fetch, 3.2.5).
    ...(any ? {} : { 'Access-Control-Allow-Credentials': 'true', Vary: 'Origin' }),
  };
}

/** Returns the response to a preflight, before authentication and for any target. `undefined` for other requests. */
function preflightReply(
  { maxAgeSeconds }: CorsPolicy,
  req: IncomingMessage,
  { echoesFields = false, hasPast }: { readonly echoesFields?: boolean | undefined; readonly hasPast: boolean },
): Reply | undefined {
  const isPreflight =
    req.method === 'OPTIONS' &&
    req.headers.origin !== undefined &&
    req.headers['access-control-request-method'] !== undefined;
  if (!isPreflight) return undefined;
  const asked = req.headers['access-control-request-headers'];
  const isEcho = echoesFields && asked !== undefined && fieldNames.test(asked);
  return {
    status: 204,
    fields: {
      'Access-Control-Allow-Methods': methods,
      'Access-Control-Allow-Headers': isEcho ? asked : hasPast ? requestFields + requestForPast : requestFields,
      'Access-Control-Max-Age': String(maxAgeSeconds),
      ...(echoesFields ? { Vary: 'Access-Control-Request-Headers' } : {}),
    },
  };
}
