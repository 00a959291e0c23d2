/** `Authorization` field with one token68, as used by Bearer and DPoP (RFC 9110 11.4). */

/** Credentials: lower-case scheme, and the token unchanged. */
export interface Credentials {
  readonly scheme: string;
  readonly token: string;
}

/** Maximum length of the field, in characters: the limit of all fields of a request together. */
const maxLength = 65_536;

// Neighbouring classes share no character, so matching takes linear time.
const credentialsPattern = /^([\w!#$%&'*+\-.^`|~]+) +([\w\-.~+/]+=*)$/;

/**
 * Parses the credentials of a field: a scheme, spaces, a token68. Returns undefined if the field is malformed, too long, or has
 * parameters instead of a token (RFC 9110 11.2, 11.4).
 */
export function parseAuthorization(field: string): Credentials | undefined {
  if (field.length > maxLength) return undefined;
  const match = credentialsPattern.exec(field);
  return match ? { scheme: match[1]!.toLowerCase(), token: match[2]! } : undefined;
}
