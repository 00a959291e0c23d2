/**
 * Errors of outbound requests, each with a stable code. Messages go to the log and must not contain a path, query, header field
 * or body, since these may hold secrets.
 */

/**
 * Reason of a failed outbound request:
 * - `scheme`: not an absolute http or https URL
 * - `credentials-in-url`: the URL contains a user name or password
 * - `address`: the host is, or resolves to, a rejected address
 * - `resolve`: the name has no address
 * - `connect`: no connection, or an untrusted certificate
 * - `timeout`: the exchange or the connection took too long
 * - `too-large`: body or fields exceed their limit
 * - `redirects`: too many redirects, or one that would send a body to another origin
 * - `downgrade`: a redirect from https to http
 * - `busy`: too many requests are waiting
 * - `protocol`: the response is not HTTP, is incomplete or is encoded
 */
export type OutboundErrorCode =
  | 'scheme'
  | 'credentials-in-url'
  | 'address'
  | 'resolve'
  | 'connect'
  | 'timeout'
  | 'too-large'
  | 'redirects'
  | 'downgrade'
  | 'busy'
  | 'protocol';

/**
 * A failed outbound request. The message names host and address for the log. The message reveals the internal network, so
 * callers get at most the code. The error has no `cause`: parser errors contain data of the other server.
 */
export class OutboundError extends Error {
  readonly code: OutboundErrorCode;

  constructor(code: OutboundErrorCode, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.code = code;
  }
}

/** Returns the code of a system or package error; its message may contain too much for the log. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : 'no code';
}
