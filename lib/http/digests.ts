/** Handles `Want-Repr-Digest` and `Want-Content-Digest` (RFC 9530; rule 10.7). */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { chooseDigest, type DigestAlgorithm, formatDigest } from '../tools/fields/digest.js';
import type { Reply } from './reply.js';
import { field } from './request.js';

/** Field value with both algorithms. SHA-256 is preferred, because the server computes it anyway (rule 10.7). */
export const wantContentDigest = 'sha-512=3, sha-256=10';

const wantsDigests = ({ headers }: IncomingMessage): boolean =>
  headers['want-repr-digest'] !== undefined || headers['want-content-digest'] !== undefined;

export const digestOf = (algorithm: DigestAlgorithm, bytes: Buffer): Buffer =>
  createHash(algorithm.replace('-', '')).update(bytes).digest();

export type WantedDigests = Readonly<Record<'repr' | 'content', DigestAlgorithm | undefined>>;

/** Returns the requested digests. @param whole false for partial content, which has no Content-Digest (rule 10.7) */
export function wantedDigests(req: IncomingMessage, whole: boolean): WantedDigests {
  const wantedOf = (name: string): DigestAlgorithm | undefined => {
    const value = field(req, name);
    return value === undefined ? undefined : chooseDigest(value);
  };
  return { repr: wantedOf('want-repr-digest'), content: whole ? wantedOf('want-content-digest') : undefined };
}

/** Returns the fields of the requested digests. */
export const digestFields = (
  { repr, content }: WantedDigests,
  digest: (algorithm: DigestAlgorithm) => Buffer,
): Record<string, string> => ({
  ...(repr ? { 'Repr-Digest': formatDigest(repr, digest(repr)) } : {}),
  ...(content ? { 'Content-Digest': formatDigest(content, digest(content)) } : {}),
});

/** Adds `Want-Content-Digest` to OPTIONS responses, and requested digests to reads. Existing digests are kept. */
export function withDigests(req: IncomingMessage, reply: Reply): Reply {
  const { status, fields, body } = reply;
  if (req.method === 'OPTIONS' && status === 204 && !fields['Want-Content-Digest'])
    return { ...reply, fields: { ...fields, 'Want-Content-Digest': wantContentDigest } };
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  if (!isRead || status !== 200 || !Buffer.isBuffer(body) || !wantsDigests(req)) return reply;
  if (fields['Repr-Digest'] || fields['Content-Digest']) return reply;
  return { ...reply, fields: { ...fields, ...digestFields(wantedDigests(req, true), (name) => digestOf(name, body)) } };
}
