/** Interface of an authentication suite, which recognizes credentials by their form and verifies them. */

import type { Principal } from '../authorization/principal.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { OutboundError } from '../tools/outbound/outbound-error.js';

export interface VerifiedCredential {
  readonly principal: Principal;
  /** Expiry of the credential, in milliseconds since the epoch. */
  readonly expires: number;
  /** Time of the next verification, because the issuer's keys can change. In milliseconds since the epoch. */
  readonly verifyAgain?: number;
  /** Thumbprint of the key for which the client must send a proof (RFC 9449 6.1). */
  readonly boundTo?: string;
  /** Name of the sign-in link. A sign-in link is valid only at the token endpoint, for one key. `boundTo` is then empty. */
  readonly link?: string;
}

export interface Suite {
  readonly name: string;
  /** Accepted `subject_token_type` values at the token endpoint. The first is advertised. Absent: none are accepted. */
  readonly tokenTypes?: readonly string[];
  /** `Authorization` schemes of the credentials, in lower case. Default: `bearer`. */
  readonly schemes?: readonly string[];
  /** True if DPoP proofs for these credentials may lack `ath` (rule 20.11). */
  readonly isAthOptional?: boolean;
  /** Returns true if the credential has the form of this suite. Must be fast, and safe for any text. */
  recognises(credential: string): boolean;
  /**
   * Verifies a credential.
   * @param address client for which fetches are queued (round robin)
   * @throws LwsError `invalid-token` with a full `reason` for the log, and `too-busy`
   */
  verify(credential: string, address: string): Promise<VerifiedCredential>;
}

/**
 * Creates the error for a rejected credential.
 * @param description failed check, for the client; must not contain the credential or the expected value
 * @param reason full reason, for the log
 */
export const refusedCredential = (description: string, reason: string, cause?: unknown): LwsError =>
  new LwsError('invalid-token', description, { reason, cause });

/** True if an attempt failed because of load, not because of the credential. */
export const isBusy = (error: unknown): boolean => error instanceof LwsError && error.code === 'too-busy';

/** Rethrows an error that is caused by load. @throws LwsError `too-busy` */
export function assertNotBusy(error: unknown): void {
  if (isBusy(error)) throw error;
  if (error instanceof OutboundError && error.code === 'busy')
    throw tooBusy('Too many credentials are being looked up. Retry in a few seconds.', 5, { cause: error });
}
