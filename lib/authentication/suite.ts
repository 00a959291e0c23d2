/** Interface of an authentication suite: recognizes credentials by their form and verifies them. */

import type { Principal } from '../authorization/principal.js';
import { LwsError, tooBusy } from '../tools/errors.js';
import { OutboundError } from '../tools/outbound/outbound-error.js';

export interface VerifiedCredential {
  readonly principal: Principal;
  /** Expiry of the credential, in milliseconds since the epoch. */
  readonly expires: number;
  /** Time after which it is verified again, in milliseconds since the epoch, because its keys are fetched. */
  readonly verifyAgain?: number;
  /** Thumbprint of the key that the presenter must prove (RFC 9449 6.1). */
  readonly boundTo?: string;
  /** Name of a sign-in link, valid at the token endpoint only and for one key. `boundTo` is then empty. */
  readonly link?: string;
}

export interface Suite {
  readonly name: string;
  /** `subject_token_type` values accepted at the token endpoint for its credentials. The first is advertised. Absent: not accepted there. */
  readonly tokenTypes?: readonly string[];
  /** `Authorization` schemes of its credentials, in lower case. Default: `bearer`. */
  readonly schemes?: readonly string[];
  /** True if the DPoP proof of its credentials may lack `ath` (rule 20.11). */
  readonly isAthOptional?: boolean;
  /** True if the credential has the form of this suite. Must be fast, and safe for any text. */
  recognises(credential: string): boolean;
  /**
   * @param address client that fetches are queued for (round robin)
   * @throws LwsError `invalid-token` with a full `reason` for the log, and `too-busy`
   */
  verify(credential: string, address: string): Promise<VerifiedCredential>;
}

/**
 * Creates the error for a rejected credential.
 * @param description failed check, for the client, without the credential or the expected value
 * @param reason full reason, for the log
 */
export const refusedCredential = (description: string, reason: string, cause?: unknown): LwsError =>
  new LwsError('invalid-token', description, { reason, cause });

/** True if an attempt failed because of load, which says nothing about the credential. */
export const isBusy = (error: unknown): boolean => error instanceof LwsError && error.code === 'too-busy';

/** @throws LwsError `too-busy` if the error indicates load */
export function assertNotBusy(error: unknown): void {
  if (isBusy(error)) throw error;
  if (error instanceof OutboundError && error.code === 'busy')
    throw tooBusy('Too many credentials are being looked up. Retry in a few seconds.', 5, { cause: error });
}
