/** Audience binding and lifetime of credentials (rules 15.4, 15.8). Pure checks. */
import { refusedCredential } from './suite.js';

/** Seconds by which the clocks of client and server may differ (rule 15.7). */
export const clockSkew = 60;

export interface AudiencePolicy {
  /** What a credential may name: the storage with and without its slash, and the values of `lws.audience`. */
  readonly accepted: ReadonlySet<string>;
  /** `lws.audience.require`: refuse a credential without `aud`. */
  readonly required: boolean;
}

/** A credential must name us; other values beside us are allowed. @throws LwsError `invalid-token` */
export function assertAudience(aud: unknown, policy: AudiencePolicy): void {
  if (aud === undefined) {
    if (policy.required)
      throw refusedCredential('The credential names no audience.', 'no aud, and lws.audience.require is true');
    return;
  }
  const values: readonly unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!values.some((value) => typeof value === 'string' && policy.accepted.has(value)))
    throw refusedCredential(
      'The credential is meant for another audience.',
      `aud is ${JSON.stringify(values).slice(0, 300)}, accepted are ${[...policy.accepted].join(' ')}`,
    );
}

/** A self-signed credential lives for a bounded time, since nobody else limits it. @throws LwsError `invalid-token` */
export function assertLifetime(iat: number, exp: number, maximumSeconds: number): void {
  if (exp - iat > maximumSeconds)
    throw refusedCredential(
      `The credential is valid for more than ${maximumSeconds} seconds (lws.token.max-lifetime-seconds).`,
      `exp - iat is ${exp - iat} s, lws.token.max-lifetime-seconds is ${maximumSeconds}`,
    );
  if (iat > Date.now() / 1000 + clockSkew)
    throw refusedCredential('The credential was issued in the future.', `iat is ${iat}`);
}
