/**
 * Errors of this suite. The client gets a short description. The log contains expected and actual values, but at most one value
 * of a credential, truncated.
 */
import { refusedCredential } from '../../lib/plugin/credentials.js';

const shownLength = 200;

/** Formats a value of a credential for the log: quoted, so that it cannot forge log lines, and truncated. */
export function shownName(value: string | undefined): string {
  if (value === undefined) return 'nothing';
  return JSON.stringify(value.length > shownLength ? `${value.slice(0, shownLength)}...` : value);
}

/** Throws the error for a rejected assertion. @throws LwsError `invalid-token` */
export function refuse(description: string, reason: string): never {
  throw refusedCredential(description, reason);
}

/** Throws the error for XML outside of the supported subset. @throws LwsError `invalid-token` */
export function refuseXml(reason: string): never {
  throw refusedCredential('The XML of the assertion is not accepted.', reason);
}
