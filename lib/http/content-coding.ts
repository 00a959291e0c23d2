/** Compresses responses with `isCodable` if the client accepts a content coding (RFC 9110 8.4, rule 7.7). */
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

/** Minimum size of a compressed body, in bytes. */
const leastBytes = 1 << 10;
/** Maximum count of streams compressed at the same time, each with about 2 MiB. Further streams are sent without coding. */
const maxStreams = 64;
let streams = 0;

/** Fast compression levels, because most bodies are compressed for one response only. */
const brotli = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 19 },
};
/** Maximum size of a body compressed in this thread, in bytes: libuv's threads would take four times as long. */
const shortBytes = 8 << 10;
/** Content codings in order of preference. Longer bodies and streams are compressed in libuv's threads. */
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

/** Returns the reply with a coding that the client accepts. Without Accept-Encoding, returns the reply unchanged. */
export function withCoding(req: IncomingMessage, reply: Reply): Reply | Promise<Reply> {
  const accepted = req.headers['accept-encoding'];
  if (accepted === undefined || !reply.isCodable) return reply;
  const choice = chooseCoding(String(accepted), names);
  const { fields, body } = reply;
  const vary = fields['Vary'] === undefined ? 'Accept-Encoding' : `${fields['Vary']}, Accept-Encoding`;
  const varying = Object.assign({}, reply, { fields: Object.assign({}, fields, { Vary: vary }) });
  const size = Buffer.isBuffer(body) ? body.length : Number(fields['Content-Length'] ?? Number.POSITIVE_INFINITY);
  const isWorthIt = size > leastBytes || (choice.isRequired && size > 0);
  // Representation digests refer to the uncoded representation (rule 10.7), so responses with digests have no coding.
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
  // An error of the body destroys the encoder. The reader of the encoder handles the error.
  pipeline(body, encoder, () => {});
  return { ...reply, fields, body: encoder as Readable };
}

/** Last coded bytes of each cached representation. */
const kept = new WeakMap<Buffer, { readonly coding: Coding; readonly bytes: Promise<Buffer> }>();

function compressed(body: Buffer, coding: Coding): Promise<Buffer> {
  const known = kept.get(body);
  if (known?.coding === coding) return known.bytes;
  const { short, whole } = codings[coding];
  const entry = { coding, bytes: body.length <= shortBytes ? Promise.resolve(short(body)) : whole(body) };
  kept.set(body, entry);
  // Coded bytes do not count against the limit of the representation cache, so only small ones are kept.
  return entry.bytes.then((bytes) => {
    if (bytes.length > body.length / 2 && kept.get(body) === entry) kept.delete(body);
    return bytes;
  });
}
