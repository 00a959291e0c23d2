/** The SAML 2.0 suite: from a credential to a principal, step by step, each in a file of its own (rule 15.12). */
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

/** Whether an assertion is meant for this server and for now (rule 15.12). Pure checks. */
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

/** The largest assertion considered, in bytes of UTF-8. One of an identity provider takes 3 to 10 KiB. */
export const maxBytes = 65_536;

const maxBase64Length = Math.ceil(maxBytes / 3) * 4;
const xmlStart = /^[ \t\r\n]*<[A-Za-z_?!]/;
const unreadable = 'The credential is no assertion in XML, base64 or base64url.';
const tooLarge = 'The assertion is too large.';

/** Whether a string begins as XML does, raw or in base64. It looks at the first 64 characters alone. */
export function looksLikeXml(credential: string): boolean {
  const head = credential.slice(0, 64);
  if (xmlStart.test(head)) return true;
  // A JWT begins with base64url of `{"`, so no credential of another suite passes.
  return /^[\w+/=-]+$/.test(head) && xmlStart.test(Buffer.from(head, 'base64').toString('latin1'));
}

/** @throws LwsError `invalid-token` for what is too large, in another alphabet or not UTF-8 */
export function decodeCredential(credential: string): string {
  if (!xmlStart.test(credential.slice(0, 64))) return decodeUtf8(decodeBase64(credential));
  const bytes = credential.length > maxBytes ? credential.length : Buffer.byteLength(credential);
  if (bytes > maxBytes) refuse(tooLarge, `at least ${bytes} bytes of XML, at most ${maxBytes} are read`);
  return credential;
}

/** Strict base64 (RFC 4648 3.2, 3.3, 3.5): one alphabet, padding complete or absent, no other character, no stray bits. */
function decodeBase64(credential: string): Buffer {
  if (credential.length > maxBase64Length)
    refuse(tooLarge, `${credential.length} characters of base64, at most ${maxBase64Length} are read`);
  const [, digits, padding] = /^([A-Za-z0-9+/]*|[\w-]*)(={0,2})$/.exec(credential) ?? [];
  if (digits === undefined || digits === '')
    refuse(unreadable, 'neither XML nor base64 nor base64url: a character is of no alphabet or of both');
  if (padding !== '' && credential.length % 4 !== 0) refuse(unreadable, 'the padding of the base64 is wrong');
  const bytes = Buffer.from(digits, 'base64');
  if (bytes.toString('base64url') !== digits.replaceAll('+', '-').replaceAll('/', '_'))
    refuse(unreadable, 'the base64 is cut off, or bits are left over at its end');
  return bytes;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    // A byte order mark stays, so that the next check refuses it: what is read is what was sent.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse('The assertion is not in UTF-8.', 'the bytes are not UTF-8');
  }
}

/** What an assertion is held to. */
export interface AssertionRules {
  readonly certificates: readonly TrustedCertificate[];
  readonly trustedIssuers: readonly string[];
  readonly audience: AudienceRule;
  readonly algorithms: Algorithms;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

export const createSuite = (rules: AssertionRules): Suite => ({
  name: 'SAML 2.0',
  tokenTypes: ['urn:ietf:params:oauth:token-type:saml2'],
  schemes: ['bearer', 'saml2'],
  recognises: looksLikeXml,
  verify: async (credential) => verifyAssertion(credential, rules),
});

/** @throws LwsError `invalid-token` */
function verifyAssertion(credential: string, rules: AssertionRules): VerifiedCredential {
  const now = rules.clock();
  const certificates = rules.certificates.filter((certificate) => isValidAt(certificate, now));
  if (certificates.length === 0)
    refuse('No identity provider is trusted now.', 'no certificate of lws.saml.idp-certificates is valid now');

  const document = parseDocument(decodeCredential(credential));
  const assertion = dissectAssertion(document.root);
  const content = verifySignature(document, assertion, { algorithms: rules.algorithms, certificates });

  // From here on only what the signature covers is read: another document, parsed from the octets that were signed.
  const claims = readClaims(parseDocument(content.xml).root, assertion.id);
  assertIssuer(claims.issuer, rules.trustedIssuers);
  const end = assertTimes(claims, now);
  assertAudiences(claims.audiences, rules.audience);

  const { subject, client, issuer } = claims;
  // The answer is remembered until then, and its certificate must be valid all the while.
  return { principal: { subject, client, issuer }, expires: Math.min(end, content.certificate.validTo) };
}
