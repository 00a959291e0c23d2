/** Whether an assertion is meant for this server and for now (rule 15.12). Pure checks. */
import { type AudiencePolicy, assertAudience, clockSkew } from '../../lib/component/authentication.js';
import type { Bound, Claims } from './claims.js';
import { refuse, shownName } from './refusal.js';

const skew = clockSkew * 1000;

export interface AudienceRule {
  /** `lws.saml.audience`. */
  readonly own: string | null;
  /** What every other credential is held to. */
  readonly general: AudiencePolicy;
}

const isoOf = (time: number): string => new Date(time).toISOString();

/**
 * @param now milliseconds since the epoch
 * @returns when the assertion ends, in milliseconds since the epoch, without the allowance for clocks that differ
 * @throws LwsError `invalid-token`
 */
export function assertTimes({ issued, notBefore, notOnOrAfter }: Claims, now: number): number {
  if (issued > now + skew)
    refuse('The assertion was issued in the future.', `IssueInstant is ${isoOf(issued)}, now is ${isoOf(now)}`);
  for (const { name, time } of notBefore)
    if (now < time - skew) refuse('The assertion is not valid yet.', `${name} is ${isoOf(time)}, now is ${isoOf(now)}`);
  const first = notOnOrAfter.reduce((one: Bound, other: Bound) => (other.time < one.time ? other : one));
  if (now >= first.time + skew)
    refuse('The assertion has expired.', `${first.name} is ${isoOf(first.time)}, now is ${isoOf(now)}`);
  return first.time;
}

/**
 * Restrictions narrow one another, so every one of them must name us; the audiences of one widen it (Core 2.5.1.4).
 * @throws LwsError `invalid-token`
 */
export function assertAudiences(restrictions: Claims['audiences'], { own, general }: AudienceRule): void {
  if (own === null) {
    if (restrictions.length === 0) assertAudience(undefined, general);
    for (const audiences of restrictions) assertAudience(audiences, general);
    return;
  }
  if (restrictions.length === 0)
    refuse('The assertion names no audience.', `no AudienceRestriction, and lws.saml.audience is ${shownName(own)}`);
  for (const audiences of restrictions)
    if (!audiences.includes(own))
      refuse(
        'The assertion is meant for another audience.',
        `an AudienceRestriction names ${shownName(audiences.join(' '))}, lws.saml.audience is ${shownName(own)}`,
      );
}

/** @param trusted `lws.saml.trusted-issuers`; empty: whoever a configured certificate signs for */
export function assertIssuer(issuer: string, trusted: readonly string[]): void {
  if (trusted.length > 0 && !trusted.includes(issuer))
    refuse(
      'The issuer of the assertion is not trusted.',
      `Issuer is ${shownName(issuer)}, lws.saml.trusted-issuers are ${trusted.join(' ')}`,
    );
}
