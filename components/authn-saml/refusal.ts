/**
 * How this suite words its refusals: a short description for the client, expected and found values for the log. It must
 * never put more of a credential into the log than one bounded value.
 */
import { refusedCredential } from '../../lib/plugin/credentials.js';

const shownLength = 200;

/** A value out of a credential for a `reason`: quoted, so that it cannot forge a line of the log, and bounded. */
export function shownName(value: string | undefined): string {
  if (value === undefined) return 'nothing';
  return JSON.stringify(value.length > shownLength ? `${value.slice(0, shownLength)}...` : value);
}

/** @throws LwsError `invalid-token`, always */
export function refuse(description: string, reason: string): never {
  throw refusedCredential(description, reason);
}

/** The refusal of XML that is well-formed to some reader but outside the subset that this suite reads. @throws LwsError */
export function refuseXml(reason: string): never {
  throw refusedCredential('The XML of the assertion is not accepted.', reason);
}
