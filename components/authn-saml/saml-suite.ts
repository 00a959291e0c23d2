/** The SAML 2.0 suite: from a credential to a principal, step by step, each in a file of its own (rule 15.12). */
import type { Suite, VerifiedCredential } from '../../lib/component/authentication.js';
import type { Algorithms } from './algorithms.js';
import { readClaims } from './claims.js';
import { type AudienceRule, assertAudiences, assertIssuer, assertTimes } from './conditions.js';
import { decodeCredential, looksLikeXml } from './decoding.js';
import { parseDocument } from './document.js';
import { isValidAt, type TrustedCertificate } from './idp-certificates.js';
import { refuse } from './refusal.js';
import { dissectAssertion } from './structure.js';
import { verifySignature } from './xml-signature.js';

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
  return {
    principal: { subject, client, issuer },
    expires: Math.min(end, content.certificate.validTo),
  };
}
