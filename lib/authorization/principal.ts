import type { Trace } from '../tools/fields/traceparent.js';

/** Caller, as established by an authentication suite. */
export interface Principal {
  /** Identity (URI). */
  readonly subject: string;
  /** URI of the client application. Absent if the credential names none. */
  readonly client?: string;
  readonly issuer?: string;
}

/** Inputs of a decision in addition to the resource. One object per request; decisions are cached on it. */
export interface Access {
  /** Absent for anonymous callers. */
  readonly principal?: Principal;
  /** `Origin` field. */
  readonly origin?: string;
  /** Trace of the request. No decision depends on it. */
  readonly trace?: Trace;
  /** Time at which the credential expires, in milliseconds since the epoch. Absent: never. For responses that continue. */
  readonly expires?: number;
  /** `LWS-Purpose` field (rule 17.5). */
  readonly purpose?: string;
}

/** Returns a copy without the cached decisions and the connection of the request. */
export function freshAccess({ principal, origin, trace, expires, purpose }: Access): Access {
  return {
    ...(principal && { principal }),
    ...(origin !== undefined && { origin }),
    ...(trace && { trace }),
    ...(expires !== undefined && { expires }),
    ...(purpose !== undefined && { purpose }),
  };
}
