/** The one error class of the house. It knows stable codes and texts for people. */

/** Every way in which the storage refuses. The code is stable: clients and specs may rely on it. */
export type ErrorCode =
  | 'already-exists'
  | 'anchor-mismatch'
  | 'bad-request'
  | 'body-not-allowed'
  | 'conflict'
  | 'container-exists'
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
  | 'storage-full'
  | 'too-complex'
  | 'too-large'
  | 'too-many-requests'
  | 'too-busy'
  | 'unauthenticated'
  | 'unsupported-media-type'
  | 'use-dpop-nonce'
  | 'unsupported-rdf'
  | 'update-timeout'
  | 'https-required';

/** What an error may carry beside its text; only `http/` reads the members that end up in header fields. */
export interface ErrorDetails {
  cause?: unknown;
  /** Why, in full, for the log alone: never part of an answer. */
  reason?: string;
  /** The scheme of `Authorization` that a refused credential came with, when the challenge has to say so. */
  scheme?: 'DPoP';
  /** Header fields that belong to the refusal (`Allow`, `Accept-Patch`, `Content-Range` ...). */
  fields?: Readonly<Record<string, string>>;
}

/** A command cannot go on. The message, a sentence for people, is all that is told; the exit code is 2. */
export class CommandError extends Error {}

/** A refusal with a stable `code`. `message` is shown to the client and must not leak what it may not know. */
export class LwsError extends Error {
  readonly code: ErrorCode;
  readonly reason: string | undefined;
  readonly scheme: 'DPoP' | undefined;
  readonly fields: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    // Skip the stack trace, which dominates the cost of a refusal. The limit is global, so it is put back at once.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'LwsError';
    this.code = code;
    this.reason = details.reason;
    this.scheme = details.scheme;
    this.fields = details.fields ?? {};
  }

  /** The same refusal, of a credential that came with that scheme, with other fields, or with a hint at its end. */
  with({ hint = '', ...changed }: Pick<ErrorDetails, 'scheme' | 'fields'> & { readonly hint?: string }): LwsError {
    const { code, message, cause, reason, fields, scheme } = this;
    return new LwsError(code, message + hint, {
      cause,
      fields,
      ...(scheme === undefined ? {} : { scheme }),
      ...(reason === undefined ? {} : { reason }),
      ...changed,
    });
  }
}

/** The refusal of what may be asked again. @param seconds until then, at the soonest */
export const tooBusy = (
  message: string,
  seconds: number,
  details: Pick<ErrorDetails, 'cause' | 'reason'> = {},
): LwsError => new LwsError('too-busy', message, { ...details, fields: { 'Retry-After': String(seconds) } });

/** A strict patch does not apply (N3 Patch). */
export const patchConflict = (why: string): LwsError =>
  new LwsError('patch-conflict', `The patch does not apply: ${why}. Nothing was changed.`);
