/** Points in time as SAML writes them (SAML 2.0 Core 1.3.3): xs:dateTime in UTC. */
import { refuse, shownName } from './refusal.js';

const form = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?Z$/;

/**
 * Milliseconds since the epoch, parts of a second left out.
 * @param name the attribute, for the reason
 * @throws LwsError `invalid-token` for another zone, another form, and a day or time that does not exist
 */
export function readInstant(value: string, name: string): number {
  const [, seconds] = form.exec(value) ?? [];
  const time = seconds === undefined ? Number.NaN : Date.parse(`${seconds}Z`);
  // Date.parse takes February 30 for March 1 or 2, and 24:00 for the next day.
  if (Number.isNaN(time) || new Date(time).toISOString() !== `${seconds}.000Z`)
    refuse(
      'A time in the assertion is malformed.',
      `${name} is ${shownName(value)}, expected an xs:dateTime in UTC with Z`,
    );
  return time;
}
