/** The contract of an authentication suite: it recognises its credentials by their shape and verifies them. */

import type { Principal } from '../authorization/principal.js';
import { LwsError, tooBusy } from '../errors.js';
import { OutboundError } from '../outbound/outbound-error.js';

export interface VerifiedCredential {
  readonly principal: Principal;
  /** Milliseconds since the epoch: when the credential itself expires. */
  readonly expires: number;
  /** Milliseconds since the epoch after which it has to be verified again, because keys are looked up elsewhere. */
  readonly verifyAgain?: number;
  /** The thumbprint of the key that a presenter must prove to have (RFC 9449 6.1). */
  readonly boundTo?: string;
  /** The name of a sign-in link, which is good at the token endpoint alone and for one key. `boundTo` is empty then. */
  readonly link?: string;
}

export interface Suite {
  readonly name: string;
  /**
   * The `subject_token_type` values under which the token endpoint takes its credentials, the first of them advertised;
   * none: it does not.
   */
  readonly tokenTypes?: readonly string[];
  /** The schemes of `Authorization` that carry its credentials, in lower case; absent: `bearer` alone. */
  readonly schemes?: readonly string[];
  /** Whether the credential has this suite's shape. It must be cheap, and safe for any text. */
  recognises(credential: string): boolean;
  /**
   * @param address who presents it: other servers are asked for its sake in turns
   * @throws LwsError `invalid-token` with a full `reason` for the log; `too-busy`
   */
  verify(credential: string, address: string): Promise<VerifiedCredential>;
}

/**
 * A credential that is refused.
 * @param description which check failed, for the client: it must leak neither the credential nor what was expected
 * @param reason the same in full, for the log
 */
export const refusedCredential = (description: string, reason: string, cause?: unknown): LwsError =>
  new LwsError('invalid-token', description, { reason, cause });

/** Whether an attempt failed because of what others do at the same time, and says nothing of the credential. */
export const isBusy = (error: unknown): boolean => error instanceof LwsError && error.code === 'too-busy';

/** @throws LwsError `too-busy` for an error that says so */
export function assertNotBusy(error: unknown): void {
  if (isBusy(error)) throw error;
  if (error instanceof OutboundError && error.code === 'busy')
    throw tooBusy('The server looks up too many credentials at once. Try again in a moment.', 5, { cause: error });
}
