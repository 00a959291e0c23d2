/** The codec of `Authorization` with one token68, as Bearer and DPoP use it (RFC 9110 11.4). */

/** Credentials: the scheme in lower case, and the token as it came. */
export interface Credentials {
  readonly scheme: string;
  readonly token: string;
}

/** The longest field considered, in characters: as much as the server lets all fields of a request take together. */
const maxLength = 65_536;

// No two neighbours share a character, so what fails has only one way to fail: the time is linear in the length.
const credentialsPattern = /^([\w!#$%&'*+\-.^`|~]+) +([\w\-.~+/]+=*)$/;

/**
 * The credentials of a field: a scheme, at least one space, a token68. Undefined when malformed, too long, without a
 * token or with parameters in its place (RFC 9110 11.2, 11.4).
 */
export function parseAuthorization(field: string): Credentials | undefined {
  if (field.length > maxLength) return undefined;
  const match = credentialsPattern.exec(field);
  return match ? { scheme: match[1]!.toLowerCase(), token: match[2]! } : undefined;
}
