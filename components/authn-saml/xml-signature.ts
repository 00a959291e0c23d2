/**
 * The verification of an assertion's signature with xml-crypto, and what exactly it covers. It must not read a claim.
 *
 * A chain without a gap: a configured key verifies the octets of SignedInfo; these octets, read again, name the digest;
 * the digest is that of the octets that are returned. Nothing of the document as sent is believed.
 */
import { timingSafeEqual } from 'node:crypto';
import { type HashAlgorithm, type SignatureAlgorithm, SignedXml } from 'xml-crypto';
import { type Algorithms, digestValueOf, signatureHolds } from './algorithms.js';
import { parseDocument, type XmlDocument } from './document.js';
import { envelopedSignature, exclusiveCanonicalization } from './identifiers.js';
import type { TrustedCertificate } from './idp-certificates.js';
import { refuse } from './refusal.js';
import { readBase64, readSignedInfo, type SignedInfo } from './signed-info.js';
import type { SignedAssertion } from './structure.js';

export interface SignedContent {
  /** The canonical form of the assertion, without its signature: the octets that were signed. */
  readonly xml: string;
  /** Whose key signed them. */
  readonly certificate: TrustedCertificate;
}

interface Trust {
  readonly algorithms: Algorithms;
  /** Those that are valid now. */
  readonly certificates: readonly TrustedCertificate[];
}

/** Under which key the signature held, and the canonical SignedInfo that it held over. */
interface Verified {
  readonly certificate: TrustedCertificate;
  readonly octets: string;
}

const broken = 'The signature of the assertion does not hold.';

/**
 * Verifies the one signature of an assertion.
 * @throws LwsError `invalid-token`
 */
export function verifySignature({ xml }: XmlDocument, assertion: SignedAssertion, trust: Trust): SignedContent {
  const expected = readSignedInfo(assertion.signedInfo, assertion.id, trust.algorithms);
  const signature = readBase64(assertion.signatureValue);
  let verified: Verified | undefined;
  let asked = false;
  const verifier = createVerifier(expected, (octets) => {
    asked = true;
    const certificate = trust.certificates.find(({ key }) =>
      signatureHolds(expected.signature, key, octets, signature),
    );
    if (certificate) verified = { certificate, octets };
    return certificate !== undefined;
  });
  const references = check(verifier, xml, assertion);
  if (!verified || !references)
    return refuse(
      broken,
      asked
        ? `no certificate of lws.saml.idp-certificates that is valid now (${trust.certificates.length}) verifies it`
        : 'the digest is not that of the assertion',
    );
  const [content, ...others] = references;
  if (content === undefined || others.length > 0) refuse(broken, `it covers ${references.length} contents`);
  assertCovers(verified.octets, content, assertion.id, trust.algorithms);
  return { xml: content, certificate: verified.certificate };
}

/** Reads SignedInfo out of the octets that were verified, and compares its digest with the content. */
function assertCovers(octets: string, content: string, id: string, algorithms: Algorithms): void {
  const { hash, digest } = readSignedInfo(parseDocument(octets).root, id, algorithms);
  if (!timingSafeEqual(digestValueOf(hash, content), digest)) refuse(broken, 'the digest is not that of the content');
}

/** @returns what the signature covers, undefined when it does not hold */
function check(verifier: SignedXml, xml: string, { signature }: SignedAssertion): readonly string[] | undefined {
  try {
    verifier.loadSignature(signature as never);
    return verifier.checkSignature(xml) ? verifier.getSignedReferences() : undefined;
  } catch {
    // It throws for a signature that does not hold, too. Its message quotes the document, so it stays here.
    return undefined;
  }
}

/** An xml-crypto that knows one algorithm of each kind, and no key but those that `isSigned` tries. */
function createVerifier(expected: SignedInfo, isSigned: (octets: string) => boolean): SignedXml {
  const verifier = new SignedXml({ publicCert: 'not used: isSigned has the keys', getCertFromKeyInfo: () => null });
  verifier.CanonicalizationAlgorithms = Object.fromEntries(
    [envelopedSignature, exclusiveCanonicalization].map((uri) => [uri, verifier.CanonicalizationAlgorithms[uri]!]),
  );
  verifier.HashAlgorithms = { [expected.digestMethod]: hashAlgorithm(expected) };
  verifier.SignatureAlgorithms = { [expected.method]: signatureAlgorithm(expected, isSigned) };
  return verifier;
}

const hashAlgorithm = ({ digestMethod, hash }: SignedInfo): (new () => HashAlgorithm) =>
  class {
    getAlgorithmName = (): string => digestMethod;
    getHash = (octets: string): string => digestValueOf(hash, octets).toString('base64');
  };

const signatureAlgorithm = (
  { method }: SignedInfo,
  isSigned: (octets: string) => boolean,
): (new () => SignatureAlgorithm) =>
  class {
    getAlgorithmName = (): string => method;
    getSignature = (): never => {
      throw new Error('The suite signs nothing.');
    };
    verifySignature = (octets: string): boolean => isSigned(octets);
  };
