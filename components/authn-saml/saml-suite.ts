/** SAML 2.0 suite: verifies a credential step by step, and returns the caller (rule 15.12). */
import {
  type AudiencePolicy,
  assertAudience,
  clockSkew,
  type Suite,
  type VerifiedCredential,
} from '../../lib/plugin/credentials.js';
import type { Algorithms } from './algorithms.js';
import { type Bound, type Claims, readClaims } from './claims.js';
import { parseDocument } from './document.js';
import { isValidAt, type TrustedCertificate } from './idp-certificates.js';
import { refuse, shownName } from './refusal.js';
import { dissectAssertion } from './structure.js';
import { verifySignature } from './xml-signature.js';

/** Allowed clock difference, in milliseconds (rule 15.12). */
const skew = clockSkew * 1000;

export interface AudienceRule {
  /** Audience that only this suite accepts: the value of `lws.saml.audience`. */
  readonly own: string | null;
  /** Audience policy for all kinds of credentials. */
  readonly general: AudiencePolicy;
}

const isoOf = (time: number): string => new Date(time).toISOString();

/**
 * Asserts that an assertion is currently valid.
 * @param now milliseconds since the epoch
 * @returns the expiry of the assertion in milliseconds since the epoch, without clock tolerance
 * @throws LwsError `invalid-token`
 */
function assertTimes({ issued, notBefore, notOnOrAfter }: Claims, now: number): number {
  if (issued > now + skew)
    refuse('The assertion was issued in the future.', `IssueInstant is ${isoOf(issued)}, now is ${isoOf(now)}`);
  for (const { name, time } of notBefore)
    if (now < time - skew) refuse('The assertion is not valid yet.', `${name} is ${isoOf(time)}, now is ${isoOf(now)}`);
  const first = notOnOrAfter.reduce((one: Bound, other: Bound) => (other.time < one.time ? other : one));
  if (now >= first.time + skew)
    refuse('The assertion has expired.', `${first.name} is ${isoOf(first.time)}, now is ${isoOf(now)}`);
  return first.time;
}

/** Asserts that each restriction names an audience of this server (Core 2.5.1.4). @throws LwsError `invalid-token` */
function assertAudiences(restrictions: Claims['audiences'], { own, general }: AudienceRule): void {
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
        'The assertion is for another audience.',
        `an AudienceRestriction names ${shownName(audiences.join(' '))}, lws.saml.audience is ${shownName(own)}`,
      );
}

/** Asserts that the issuer is trusted. @param trusted `lws.saml.trusted-issuers`. Empty: all issuers with a certificate */
function assertIssuer(issuer: string, trusted: readonly string[]): void {
  if (trusted.length > 0 && !trusted.includes(issuer))
    refuse(
      'The issuer of the assertion is not trusted.',
      `Issuer is ${shownName(issuer)}, lws.saml.trusted-issuers are ${trusted.join(' ')}`,
    );
}

/** Maximum size of an assertion in bytes of UTF-8. Typical assertions have 3 to 10 KiB. */
export const maxBytes = 65_536;

const maxBase64Length = Math.ceil(maxBytes / 3) * 4;
const xmlStart = /^[ \t\r\n]*<[A-Za-z_?!]/;
const unreadable = 'The credential must be an assertion in XML, base64 or base64url.';
const tooLarge = 'The assertion is too large.';

/** Returns true if a string starts like XML, raw or in base64. Reads only the first 64 characters. */
export function looksLikeXml(credential: string): boolean {
  const head = credential.slice(0, 64);
  if (xmlStart.test(head)) return true;
  // A JWT starts with `{"` in base64url, so no credential of another suite matches.
  return /^[\w+/=-]+$/.test(head) && xmlStart.test(Buffer.from(head, 'base64').toString('latin1'));
}

/** Returns the XML of a credential. @throws LwsError `invalid-token` if it is too large, malformed or not UTF-8 */
export function decodeCredential(credential: string): string {
  if (!xmlStart.test(credential.slice(0, 64))) return decodeUtf8(decodeBase64(credential));
  const bytes = credential.length > maxBytes ? credential.length : Buffer.byteLength(credential);
  if (bytes > maxBytes) refuse(tooLarge, `at least ${bytes} bytes of XML, the maximum is ${maxBytes}`);
  return credential;
}

/** Decodes base64 strictly (RFC 4648 3.2, 3.3, 3.5): one alphabet, all or no padding, no other characters, no stray bits. */
function decodeBase64(credential: string): Buffer {
  if (credential.length > maxBase64Length)
    refuse(tooLarge, `${credential.length} characters of base64, the maximum is ${maxBase64Length}`);
  const [, digits, padding] = /^([A-Za-z0-9+/]*|[\w-]*)(={0,2})$/.exec(credential) ?? [];
  if (digits === undefined || digits === '')
    refuse(
      unreadable,
      'neither XML nor base64 nor base64url: a character belongs to neither alphabet, or both are mixed',
    );
  if (padding !== '' && credential.length % 4 !== 0) refuse(unreadable, 'the padding of the base64 is wrong');
  const bytes = Buffer.from(digits, 'base64');
  if (bytes.toString('base64url') !== digits.replaceAll('+', '-').replaceAll('/', '_'))
    refuse(unreadable, 'the base64 is truncated or has extra bits at its end');
  return bytes;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    // Keep a byte order mark, so that the next check rejects it: the input is never changed silently.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse('The assertion must be in UTF-8.', 'the bytes are not UTF-8');
  }
}

/** Requirements for assertions. */
export interface AssertionRules {
  readonly certificates: readonly TrustedCertificate[];
  readonly trustedIssuers: readonly string[];
  readonly audience: AudienceRule;
  readonly algorithms: Algorithms;
  /** Returns the current time in milliseconds since the epoch. */
  readonly clock: () => number;
}

export const createSuite = (rules: AssertionRules): Suite => ({
  name: 'SAML 2.0',
  tokenTypes: ['urn:ietf:params:oauth:token-type:saml2'],
  schemes: ['bearer', 'saml2'],
  recognises: looksLikeXml,
  verify: async (credential) => verifyAssertion(credential, rules),
});

/** Verifies an assertion. @throws LwsError `invalid-token` */
function verifyAssertion(credential: string, rules: AssertionRules): VerifiedCredential {
  const now = rules.clock();
  const certificates = rules.certificates.filter((certificate) => isValidAt(certificate, now));
  if (certificates.length === 0)
    refuse(
      'No identity provider is currently trusted.',
      'no certificate of lws.saml.idp-certificates is currently valid',
    );

  const document = parseDocument(decodeCredential(credential));
  const assertion = dissectAssertion(document.root);
  const content = verifySignature(document, assertion, { algorithms: rules.algorithms, certificates });

  // From here on, read only the signed content: a separate document, parsed from the signed octets.
  const claims = readClaims(parseDocument(content.xml).root, assertion.id);
  assertIssuer(claims.issuer, rules.trustedIssuers);
  const end = assertTimes(claims, now);
  assertAudiences(claims.audiences, rules.audience);

  const { subject, client, issuer } = claims;
  // The result is cached until it expires, so it must expire with the certificate at the latest.
  return { principal: { subject, client, issuer }, expires: Math.min(end, content.certificate.validTo) };
}
