/**
 * Verifies the signature of an assertion with xml-crypto, and returns the signed content. Does not read claims. Each step
 * depends on the previous one. A configured key verifies the octets of SignedInfo. These octets are parsed again and contain
 * the digest. The digest matches the returned octets. The document as sent is not trusted.
 */

import { timingSafeEqual } from 'node:crypto';
import { type HashAlgorithm, type SignatureAlgorithm, SignedXml } from 'xml-crypto';
import type { XmlElement } from '../../lib/plugin/xml.js';
import { type Algorithms, digestValueOf, type SignatureMethod, signatureHolds } from './algorithms.js';
import { childrenOf, parseDocument, textContentOf, type XmlDocument } from './document.js';
import { envelopedSignature, exclusiveCanonicalization, signatureNamespace, xmlnsNamespace } from './identifiers.js';
import type { TrustedCertificate } from './idp-certificates.js';
import { refuse, shownName } from './refusal.js';
import type { SignedAssertion } from './structure.js';

export interface SignedContent {
  /** Signed octets: canonical form of the assertion without its signature. */
  readonly xml: string;
  /** Certificate with the key that verified the signature. */
  readonly certificate: TrustedCertificate;
}

interface Trust {
  readonly algorithms: Algorithms;
  /** Certificates that are currently valid. */
  readonly certificates: readonly TrustedCertificate[];
}

const broken = 'The signature of the assertion is not valid.';

/** Verifies the signature of an assertion. @throws LwsError `invalid-token` */
export function verifySignature({ xml }: XmlDocument, assertion: SignedAssertion, trust: Trust): SignedContent {
  const expected = readSignedInfo(assertion.signedInfo, assertion.id, trust.algorithms);
  const signature = readBase64(assertion.signatureValue);
  // Certificate of the verifying key, and canonical SignedInfo that was verified.
  let verified: { readonly certificate: TrustedCertificate; readonly octets: string } | undefined;
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
        ? `none of the ${trust.certificates.length} currently valid certificates of lws.saml.idp-certificates verifies it`
        : 'the digest does not match the assertion',
    );
  const [content, ...others] = references;
  if (content === undefined || others.length > 0) refuse(broken, `it covers ${references.length} contents`);
  assertCovers(verified.octets, content, assertion.id, trust.algorithms);
  return { xml: content, certificate: verified.certificate };
}

/** Asserts that the verified SignedInfo, parsed again, has the digest of the content. */
function assertCovers(octets: string, content: string, id: string, algorithms: Algorithms): void {
  const { hash, digest } = readSignedInfo(parseDocument(octets).root, id, algorithms);
  if (!timingSafeEqual(digestValueOf(hash, content), digest)) refuse(broken, 'the digest does not match the content');
}

/** Verifies the signature with xml-crypto. @returns the signed content, or undefined if the signature is not valid */
function check(verifier: SignedXml, xml: string, { signature }: SignedAssertion): readonly string[] | undefined {
  try {
    verifier.loadSignature(signature.node as never);
    return verifier.checkSignature(xml) ? verifier.getSignedReferences() : undefined;
  } catch {
    // xml-crypto also throws for an invalid signature. Drop its message, which quotes the document.
    return undefined;
  }
}

/** Returns a verifier of xml-crypto with one algorithm of each kind. It uses only the keys that `isSigned` tries. */
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

/** SignedInfo of a signature (XML Signature 4.4). It is parsed twice: as sent, and as verified. */
export interface SignedInfo {
  /** URI of the signature algorithm. */
  readonly method: string;
  readonly signature: SignatureMethod;
  /** URI of the digest algorithm, and name of its hash function. */
  readonly digestMethod: string;
  readonly hash: string;
  readonly digest: Buffer;
}

const notAsExpected = 'The structure of the signature is not supported.';
const notAllowed = 'The signature uses an algorithm that is not allowed.';

/** Digest lengths in bytes, by hash function. */
const lengths: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/** Parses SignedInfo. @param id id of the assertion, to which the only reference must point @throws LwsError `invalid-token` */
function readSignedInfo(signedInfo: XmlElement, id: string, algorithms: Algorithms): SignedInfo {
  const [canonicalization, signatureMethod, reference] = childrenNamed(signedInfo, [
    'CanonicalizationMethod',
    'SignatureMethod',
    'Reference',
  ]);
  assertCanonicalization(canonicalization!);
  const method = algorithmOf(signatureMethod!);
  const signature = algorithms.signatures.get(method);
  if (!signature) refuse(notAllowed, `the signature algorithm ${shownName(method)} is not allowed`);
  childrenNamed(signatureMethod!, []);
  return { method, signature, ...readReference(reference!, id, algorithms) };
}

function readReference(
  reference: XmlElement,
  id: string,
  { digests }: Algorithms,
): Pick<SignedInfo, 'digestMethod' | 'hash' | 'digest'> {
  const uri = reference.attribute('URI');
  // Accept only a reference to the assertion with the signature: not '' (the whole document), no XPointer, no other element.
  if (uri !== `#${id}`)
    refuse(
      'The signature does not cover the assertion.',
      `the Reference names ${shownName(uri)}, expected ${shownName(`#${id}`)}`,
    );
  const [transforms, method, value] = childrenNamed(reference, ['Transforms', 'DigestMethod', 'DigestValue']);
  assertTransforms(transforms!);
  const digestMethod = algorithmOf(method!);
  const hash = digests.get(digestMethod);
  if (!hash) refuse(notAllowed, `the digest algorithm ${shownName(digestMethod)} is not allowed`);
  childrenNamed(method!, []);
  const digest = readBase64(value!);
  if (digest.length !== lengths[hash])
    refuse(notAsExpected, `DigestValue has ${digest.length} bytes, expected ${lengths[hash]}`);
  return { digestMethod, hash, digest };
}

/** Asserts the transforms (SAML 2.0 Core 5.4.4): first enveloped-signature, then exclusive canonicalization. */
function assertTransforms(transforms: XmlElement): void {
  const children = childrenOf(transforms);
  const found = children.map((child) =>
    child.isNamed(signatureNamespace, 'Transform') ? algorithmOf(child) : child.localName,
  );
  if (found.length !== 2 || found[0] !== envelopedSignature || found[1] !== exclusiveCanonicalization)
    refuse(
      notAllowed,
      `the transforms are ${shownName(found.join(' '))}, expected ${envelopedSignature} ${exclusiveCanonicalization}`,
    );
  childrenNamed(children[0]!, []);
  assertPrefixes(children[1]!);
}

function assertCanonicalization(method: XmlElement): void {
  const algorithm = algorithmOf(method);
  if (algorithm !== exclusiveCanonicalization)
    refuse(notAllowed, `the canonicalization is ${shownName(algorithm)}, expected ${exclusiveCanonicalization}`);
  assertPrefixes(method);
}

/** Asserts the parameters of Exclusive C14N 1.0 (section 4): at most a list of prefixes, without `#default` (unsupported). */
function assertPrefixes(method: XmlElement): void {
  const [parameter, ...others] = childrenOf(method);
  if (!parameter) return;
  const isPrefixList = parameter.isNamed(exclusiveCanonicalization, 'InclusiveNamespaces');
  const prefixes = parameter.attribute('PrefixList') ?? '';
  if (!isPrefixList || others.length > 0 || parameter.content.length > 0)
    refuse(
      notAllowed,
      `${method.localName} contains ${shownName(parameter.localName)}, expected at most InclusiveNamespaces`,
    );
  if (!/^(?:[A-Za-z_][\w.-]*(?: [A-Za-z_][\w.-]*)*)?$/.test(prefixes))
    refuse(notAllowed, `the PrefixList is ${shownName(prefixes)}, expected prefixes`);
}

/** Returns the attribute `Algorithm`. Rejects other attributes, because xml-crypto ignores the namespace of attributes. */
function algorithmOf(element: XmlElement): string {
  const algorithm = element.attribute('Algorithm');
  const attributes = element.attributes.filter(({ namespace }) => namespace !== xmlnsNamespace);
  if (algorithm === undefined || attributes.length !== 1)
    refuse(notAsExpected, `${element.localName} has ${attributes.length} attributes, expected Algorithm only`);
  return algorithm;
}

/** Returns the children. @throws LwsError `invalid-token` unless they are the named XML Signature elements, in this order */
function childrenNamed(element: XmlElement, names: readonly string[]): XmlElement[] {
  const children = childrenOf(element);
  if (
    children.length !== names.length ||
    children.some((child, index) => !child.isNamed(signatureNamespace, names[index]!))
  )
    refuse(
      notAsExpected,
      `${element.localName} contains ${shownName(children.map(({ localName }) => localName).join(' '))}, expected ${shownName(names.join(' '))}`,
    );
  return children;
}

/** Decodes base64 with line breaks (XML Schema base64Binary) strictly. @throws LwsError `invalid-token` */
function readBase64(element: XmlElement): Buffer {
  const digits = textContentOf(element).replace(/[ \t\r\n]+/g, '');
  const bytes = Buffer.from(digits, 'base64');
  if (digits === '' || bytes.toString('base64') !== digits) refuse(notAsExpected, `${element.localName} is not base64`);
  return bytes;
}
