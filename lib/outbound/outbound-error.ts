/**
 * The refusals and failures of outbound requests, each with a stable code.
 * They must not carry a path, a query, a header field or a body: those may hold secrets, and messages go to the log.
 */

/**
 * Why an outbound request ended without an answer:
 * - `scheme`: no absolute http or https URL
 * - `credentials-in-url`: the URL holds a user name or a password
 * - `address`: the host is, or resolves to, an address that the policy refuses
 * - `resolve`: the name has no address
 * - `connect`: no connection, or no trusted one
 * - `timeout`: the whole exchange, or making a connection, took too long
 * - `too-large`: the body or the fields of the answer exceed their cap
 * - `redirects`: too many of them, or one that would hand a body to another origin
 * - `downgrade`: a redirect from https to http
 * - `busy`: too many others wait for their turn
 * - `protocol`: the answer is not HTTP, is broken off or is encoded
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
 * A request to another host that did not come to an answer. The message names host and address and is meant for
 * the log: it tells who listens inside the network, so strangers may be shown the code at most. There is no `cause`:
 * errors of the HTTP parser hold what the other side sent, which may repeat what it was sent.
 */
export class OutboundError extends Error {
  readonly code: OutboundErrorCode;

  constructor(code: OutboundErrorCode, message: string) {
    super(message);
    this.name = 'OutboundError';
    this.code = code;
  }
}

/** The code of a system's or a package's error; its message might say more than belongs into the log. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : 'no code';
}
