/** The suite under test with one trusted identity provider, and its result for a credential. */
import { expect } from 'chai';
import { createAlgorithms } from '../../../components/authn-saml/algorithms.js';
import type { TrustedCertificate } from '../../../components/authn-saml/idp-certificates.js';
import { type AssertionRules, createSuite } from '../../../components/authn-saml/saml-suite.js';
import type { VerifiedCredential } from '../../../lib/authentication/suite.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { rsaSigner, type Signer } from '../../support/x509.js';
import { alice, client, issuer, now, storage } from './assertions.js';

/** Keys are slow to create: one of the trusted provider, one of an attacker, for all specs. */
export const provider: Signer = rsaSigner();
export const attacker: Signer = rsaSigner();

export const trusted = (signer: Signer, days = 1000): TrustedCertificate => ({
  file: 'idp.pem',
  key: signer.publicKey,
  validFrom: now - 86_400_000,
  validTo: now + days * 86_400_000,
});

export const rulesWith = (rules: Partial<AssertionRules> = {}): AssertionRules => ({
  certificates: [trusted(provider)],
  trustedIssuers: [],
  audience: { own: null, general: { accepted: new Set([storage, storage.slice(0, -1)]), required: true } },
  algorithms: createAlgorithms(false),
  clock: () => now,
  ...rules,
});

export const verify = (credential: string, rules: Partial<AssertionRules> = {}): Promise<VerifiedCredential> =>
  createSuite(rulesWith(rules)).verify(credential, '127.0.0.1');

/** Claims of the default assertion: earliest expiry and clock tolerance. */
export const usual: VerifiedCredential = {
  principal: { subject: alice, client, issuer },
  expires: now + 300_000,
};

export async function expectAccepted(credential: string, rules: Partial<AssertionRules> = {}): Promise<void> {
  const outcome = await verify(credential, rules).catch((error: LwsError) => {
    throw new Error(`refused: ${error.reason ?? error.stack}`);
  });
  expect(outcome).to.deep.equal(usual);
}

/** Expects a rejection with this reason in the log. The credential itself is in neither text. */
export async function expectRefusal(
  credential: string,
  reason: RegExp,
  rules: Partial<AssertionRules> = {},
): Promise<LwsError> {
  const outcome = await verify(credential, rules).then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome, JSON.stringify(outcome)).to.be.instanceOf(LwsError);
  const error = outcome as LwsError;
  expect(error.code).to.equal('invalid-token');
  expect(error.reason).to.match(reason);
  expect(error.reason!.length).to.be.below(1500);
  for (const text of [error.message, error.reason!]) expect(text).not.to.match(/<saml:|SignatureValue>/);
  expect(error.cause).to.equal(undefined);
  return error;
}
