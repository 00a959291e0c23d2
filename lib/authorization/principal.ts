import type { Trace } from '../fields/traceparent.js';

/** Who asks, as an authentication suite established it. It must not know how. */
export interface Principal {
  /** The identity, a URI. */
  readonly subject: string;
  /** The application that acts for it, a URI; absent when the credential names none. */
  readonly client?: string;
  readonly issuer?: string;
}

/** What a decision may depend on beside the resource: one object per request, to which decisions may be memoised. */
export interface Access {
  /** Absent: anonymous. */
  readonly principal?: Principal;
  /** The field `Origin`. */
  readonly origin?: string;
  /** The trace that the request belongs to; no decision depends on it. */
  readonly trace?: Trace;
  /** Milliseconds since the epoch: when the credential stops to count. Absent: never. For answers that continue. */
  readonly expires?: number;
  /** The field `LWS-Purpose` (rule 17.5). */
  readonly purpose?: string;
}
