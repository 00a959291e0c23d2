/** Errors of the token endpoint (RFC 6749 section 5.2). */
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
    /** Full reason, only for the log. */
    readonly reason?: string,
    readonly fields: Readonly<Record<string, string>> = {},
    readonly status = 400,
  ) {
    super(message);
  }
}

/** Header fields that prevent caching of tokens and errors (RFC 6749 5.1, 5.2). */
export const oauthFields = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  Pragma: 'no-cache',
} as const;

/** Replaces characters that RFC 6749 forbids in a description. Allowed is printable ASCII except quote and backslash. */
const plain = (text: string): string => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');

export const oauthErrorReply = ({ code, message, fields, status }: OAuthError): Reply => ({
  status,
  fields: { ...oauthFields, ...fields },
  body: Buffer.from(JSON.stringify({ error: code, error_description: plain(message) })),
});
