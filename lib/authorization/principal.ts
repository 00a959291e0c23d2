import type { Trace } from '../tools/fields/traceparent.js';

/** Caller, as established by an authentication suite. */
export interface Principal {
  /** Identity of the caller (URI). */
  readonly subject: string;
  /** URI of the client application. Absent if the credential does not contain one. */
  readonly client?: string;
  readonly issuer?: string;
}

/** Caller and circumstances of a request, for access decisions. One object per request, because decisions are cached on it. */
export interface Access {
  /** Authenticated caller. Absent for anonymous callers. */
  readonly principal?: Principal;
  /** Value of the `Origin` field. */
  readonly origin?: string;
  /** Trace context of the request. Does not affect decisions. */
  readonly trace?: Trace;
  /** Expiry of the credential, in milliseconds since the epoch. Long responses, such as event streams, end then. */
  readonly expires?: number;
  /** Value of the `LWS-Purpose` field (rule 17.5). */
  readonly purpose?: string;
}

/** Returns a copy without cached decisions, and without the connection of the request. */
export function freshAccess({ principal, origin, trace, expires, purpose }: Access): Access {
  return {
    ...(principal && { principal }),
    ...(origin !== undefined && { origin }),
    ...(trace && { trace }),
    ...(expires !== undefined && { expires }),
    ...(purpose !== undefined && { purpose }),
  };
}
