/** Checks audience and lifetime of credentials (rules 15.4, 15.8). */
import { refusedCredential } from './suite.js';

/** Allowed difference of client and server clocks, in seconds (rule 15.7). */
export const clockSkew = 60;

export interface AudiencePolicy {
  /** Accepted audiences: the storage URI with and without a trailing slash, and the values of `lws.audience`. */
  readonly accepted: ReadonlySet<string>;
  /** True to reject credentials without `aud` (`lws.audience.require`). */
  readonly required: boolean;
}

/** Asserts that the audience includes this server. Other audiences are ignored. @throws LwsError `invalid-token` */
export function assertAudience(aud: unknown, policy: AudiencePolicy): void {
  if (aud === undefined) {
    if (policy.required)
      throw refusedCredential('The credential has no audience.', 'no aud, and lws.audience.require is true');
    return;
  }
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!values.some((value) => typeof value === 'string' && policy.accepted.has(value)))
    throw refusedCredential(
      'The credential is for another audience.',
      `aud is ${JSON.stringify(values).slice(0, 300)}, accepted are ${[...policy.accepted].join(' ')}`,
    );
}

/** Asserts the maximum lifetime of a self-signed credential, which no issuer limits. @throws LwsError `invalid-token` */
export function assertLifetime(iat: number, exp: number, maximumSeconds: number): void {
  if (exp - iat > maximumSeconds)
    throw refusedCredential(
      `The credential is valid for more than ${maximumSeconds} seconds (lws.token.max-lifetime-seconds).`,
      `exp - iat is ${exp - iat} s, lws.token.max-lifetime-seconds is ${maximumSeconds}`,
    );
  if (iat > Date.now() / 1000 + clockSkew)
    throw refusedCredential('The credential was issued in the future.', `iat is ${iat}`);
}
