/** Content codings of responses (RFC 9110 8.4, rule 7.7): replies with `isCodable` are compressed if the client accepts it. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import { chooseCoding } from '../tools/fields/accept.js';
import type { Reply } from './reply.js';
import { preconditions } from './request.js';
import { fieldsWithout, notModified } from './state-fields.js';

/** Minimum size of a body in bytes. */
const leastBytes = 1 << 10;
/** Maximum number of streams that are compressed at the same time. Further ones are sent without coding. Each has about 2 MiB. */
const maxStreams = 64;
let streams = 0;

/** Fast qualities: most bodies are compressed for one response. */
const brotli = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 19 },
};
/** Up to this size in bytes, a turn in libuv's threads takes four times as long as the compression. */
const shortBytes = 8 << 10;
/** In the order of preference. Longer bodies and streams are compressed in libuv's threads. */
const codings = {
  br: {
    suffix: '.br',
    short: (bytes: Buffer) => brotliCompressSync(bytes, brotli),
    whole: (bytes: Buffer) => promisify(brotliCompress)(bytes, brotli),
    stream: () => createBrotliCompress(brotli),
  },
  gzip: {
    suffix: '.gz',
    short: (bytes: Buffer) => gzipSync(bytes),
    whole: promisify(gzip) as (bytes: Buffer) => Promise<Buffer>,
    stream: () => createGzip(),
  },
} as const;
type Coding = keyof typeof codings;

const names = Object.keys(codings);

/** Returns the reply as the client accepts it. Without Accept-Encoding it is unchanged. */
export function withCoding(req: IncomingMessage, reply: Reply): Reply | Promise<Reply> {
  const accepted = req.headers['accept-encoding'];
  if (accepted === undefined || !reply.isCodable) return reply;
  const choice = chooseCoding(String(accepted), names);
  const { fields, body } = reply;
  const vary = fields['Vary'] === undefined ? 'Accept-Encoding' : `${fields['Vary']}, Accept-Encoding`;
  const varying = Object.assign({}, reply, { fields: Object.assign({}, fields, { Vary: vary }) });
  const size = Buffer.isBuffer(body) ? body.length : Number(fields['Content-Length'] ?? Number.POSITIVE_INFINITY);
  const isWorthIt = size > leastBytes || (choice.isRequired && size > 0);
  // Digests of representations are those of the uncoded one (rule 10.7).
  const isDigested = req.headers['want-repr-digest'] !== undefined || fields['Content-Digest'] !== undefined;
  if (choice.coding === undefined || !isWorthIt || isDigested || reply.status !== 200) return varying;
  return coded(req, varying, choice.coding as Coding);
}

async function coded(req: IncomingMessage, reply: Reply, coding: Coding): Promise<Reply> {
  const { suffix, stream } = codings[coding];
  const { ETag } = reply.fields as Record<string, string>;
  const fields = fieldsWithout(reply.fields as Record<string, string>, ['Content-Length', 'Accept-Ranges', 'ETag']);
  const tag = ETag === undefined ? undefined : `${ETag.slice(1, -1)}${suffix}`;
  if (tag !== undefined) fields['ETag'] = `"${tag}"`;
  const { body } = reply;
  const { ifNoneMatch } = preconditions(req);
  if (Array.isArray(ifNoneMatch) && ifNoneMatch.some(({ opaque }) => opaque === tag)) {
    if (body && !Buffer.isBuffer(body)) body.destroy();
    return notModified(fields);
  }
  fields['Content-Encoding'] = coding;
  if (Buffer.isBuffer(body)) return { ...reply, fields, body: await compressed(body, coding) };
  if (body === undefined || req.method === 'HEAD') return { ...reply, fields };
  if (streams >= maxStreams) return reply;
  streams++;
  const encoder = stream();
  encoder.once('close', () => streams--);
  // Errors of the body become those of the encoder, whose reader handles them.
  pipeline(body, encoder, () => {});
  return { ...reply, fields, body: encoder as Readable };
}

/** The last coding of cached representations. */
const kept = new WeakMap<Buffer, { readonly coding: Coding; readonly bytes: Promise<Buffer> }>();

function compressed(body: Buffer, coding: Coding): Promise<Buffer> {
  const known = kept.get(body);
  if (known?.coding === coding) return known.bytes;
  const { short, whole } = codings[coding];
  const entry = { coding, bytes: body.length <= shortBytes ? Promise.resolve(short(body)) : whole(body) };
  kept.set(body, entry);
  // The limit of the cache of representations does not include it.
  return entry.bytes.then((bytes) => {
    if (bytes.length > body.length / 2 && kept.get(body) === entry) kept.delete(body);
    return bytes;
  });
}
