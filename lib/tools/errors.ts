/** The error class of the server, with stable codes. */

/** Error codes. They are stable: clients and specs may rely on them. */
export type ErrorCode =
  | 'already-exists'
  | 'anchor-mismatch'
  | 'bad-request'
  | 'body-not-allowed'
  | 'conflict'
  | 'container-exists'
  | 'damaged-content'
  | 'digest-mismatch'
  | 'fields-too-large'
  | 'forbidden'
  | 'gone'
  | 'interaction-model-conflict'
  | 'invalid-page'
  | 'invalid-patch'
  | 'invalid-request'
  | 'invalid-token'
  | 'iri-too-long'
  | 'linkset-too-large'
  | 'malformed-body'
  | 'malformed-filter'
  | 'malformed-query'
  | 'method-not-allowed'
  | 'misdirected-request'
  | 'named-graph'
  | 'not-acceptable'
  | 'not-empty'
  | 'not-found'
  | 'not-implemented'
  | 'page-not-found'
  | 'parent-not-a-container'
  | 'parent-not-found'
  | 'patch-conflict'
  | 'precondition-failed'
  | 'precondition-required'
  | 'query-limit'
  | 'quota-exceeded'
  | 'range-not-satisfiable'
  | 'request-timeout'
  | 'reserved-name'
  | 'root-not-deletable'
  | 'service-failed'
  | 'shape-violation'
  | 'storage-full'
  | 'too-complex'
  | 'too-large'
  | 'too-many-requests'
  | 'too-busy'
  | 'unauthenticated'
  | 'unsupported-media-type'
  | 'unusable-shapes'
  | 'use-dpop-nonce'
  | 'unsupported-rdf'
  | 'update-timeout'
  | 'https-required';

/** Properties of an error in addition to its message. Only `http/` reads the properties that become header fields. */
export interface ErrorDetails {
  cause?: unknown;
  /** Full reason for the log. Never part of a response. */
  reason?: string;
  /** `Authorization` scheme of a rejected credential, if the challenge has to name it. */
  scheme?: 'DPoP';
  /** Header fields of the error response (`Allow`, `Accept-Patch`, `Content-Range` ...). */
  fields?: Readonly<Record<string, string>>;
  /** More members of the problem document. */
  members?: Readonly<Record<string, unknown>>;
  /** Returns the error in another media type that `Accept` prefers to a problem document. */
  describe?: (accept: string) => { readonly mediaType: string; readonly body: Buffer } | undefined;
}

/** Thrown if a command fails. The message is printed unchanged. The exit code is 2. */
export class CommandError extends Error {}

/** An error with a stable `code`. The client sees `message`, which must not reveal more than the client is allowed to know. */
export class LwsError extends Error {
  readonly code: ErrorCode;
  readonly reason: string | undefined;
  readonly scheme: 'DPoP' | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly members: ErrorDetails['members'];
  readonly describe: ErrorDetails['describe'];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    // Create no stack trace, which dominates the cost of an error. The limit is global, so restore it at once.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'LwsError';
    this.code = code;
    this.reason = details.reason;
    this.scheme = details.scheme;
    this.fields = details.fields ?? {};
    this.members = details.members;
    this.describe = details.describe;
  }

  /** Returns the same error with a scheme, other fields, or a hint appended. */
  with({ hint = '', ...changed }: Pick<ErrorDetails, 'scheme' | 'fields'> & { readonly hint?: string }): LwsError {
    const { code, message, cause, reason, fields, scheme, members, describe } = this;
    return new LwsError(code, message + hint, {
      cause,
      fields,
      ...(scheme === undefined ? {} : { scheme }),
      ...(reason === undefined ? {} : { reason }),
      ...(members && { members }),
      ...(describe && { describe }),
      ...changed,
    });
  }
}

/** Creates an error for a request that may be retried. @param seconds minimum time until the retry */
export const tooBusy = (
  message: string,
  seconds: number,
  details: Pick<ErrorDetails, 'cause' | 'reason'> = {},
): LwsError => new LwsError('too-busy', message, { ...details, fields: { 'Retry-After': String(seconds) } });

/** Creates the error for a strict patch that does not apply (N3 Patch). */
export const patchConflict = (why: string): LwsError =>
  new LwsError('patch-conflict', `The patch does not apply: ${why}. Nothing was changed.`);
