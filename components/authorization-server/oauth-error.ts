/** Refusals of the token endpoint, in the form of RFC 6749 section 5.2. */
import type { Reply } from '../../lib/http/reply.js';

export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_target'
  | 'invalid_dpop_proof'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'use_dpop_nonce';

export class OAuthError extends Error {
  constructor(
    readonly code: OAuthErrorCode,
    message: string,
    /** Why, in full, for the log alone. */
    readonly reason?: string,
    readonly fields: Readonly<Record<string, string>> = {},
    readonly status = 400,
  ) {
    super(message);
  }
}

/** Neither tokens nor refusals are for any cache (RFC 6749 5.1, 5.2). */
export const uncached = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
} as const;

/** What RFC 6749 allows in a description: printable ASCII without quote and backslash. */
const plain = (text: string): string => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');

export const oauthErrorReply = ({ code, message, fields, status }: OAuthError): Reply => ({
  status,
  fields: { ...uncached, ...fields },
  body: Buffer.from(JSON.stringify({ error: code, error_description: plain(message) })),
});
