/** `SignedInfo`: what a signature says that it signs, and how (XML Signature 4.4). It is read twice, as sent and as verified. */
import type { Algorithms, SignatureMethod } from './algorithms.js';
import { attributeOf, childrenOf, isNamed, textContentOf, type XmlElement } from './document.js';
import { envelopedSignature, exclusiveCanonicalization, signatureNamespace, xmlnsNamespace } from './identifiers.js';
import { refuse, shownName } from './refusal.js';

export interface SignedInfo {
  /** The URI of the signature's algorithm. */
  readonly method: string;
  readonly signature: SignatureMethod;
  /** The URI of the digest's algorithm, and the name of its hash. */
  readonly digestMethod: string;
  readonly hash: string;
  readonly digest: Buffer;
}

const notAsExpected = 'The signature is not built as expected.';
const notAllowed = 'The signature uses an algorithm that is not allowed.';

/** Digest lengths, in bytes. */
const lengths: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 };

/**
 * @param id the identifier of the assertion, which the one reference has to name
 * @throws LwsError `invalid-token`
 */
export function readSignedInfo(signedInfo: XmlElement, id: string, algorithms: Algorithms): SignedInfo {
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
  const uri = attributeOf(reference, 'URI');
  // Not '' (the whole document), no XPointer, no other element: the assertion that holds the signature.
  if (uri !== `#${id}`)
    refuse(
      'The signature is not of the assertion.',
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
    refuse(notAsExpected, `DigestValue is of ${digest.length} bytes, expected ${lengths[hash]}`);
  return { digestMethod, hash, digest };
}

/** SAML 2.0 Core 5.4.4: the enveloped signature left out, then exclusive canonicalisation; both, in this order. */
function assertTransforms(transforms: XmlElement): void {
  const children = childrenOf(transforms);
  const found = children.map((child) =>
    isNamed(child, signatureNamespace, 'Transform') ? algorithmOf(child) : child.localName,
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

/** Exclusive C14N 1.0, section 4: the only parameter, a list of prefixes. `#default` is not supported by xml-crypto. */
function assertPrefixes(method: XmlElement): void {
  const [parameter, ...others] = childrenOf(method);
  if (!parameter) return;
  const isPrefixList = isNamed(parameter, exclusiveCanonicalization, 'InclusiveNamespaces');
  const prefixes = attributeOf(parameter, 'PrefixList') ?? '';
  if (!isPrefixList || others.length > 0 || parameter.childNodes.length > 0)
    refuse(
      notAllowed,
      `${method.localName} holds ${shownName(parameter.localName)}, expected at most InclusiveNamespaces`,
    );
  if (!/^(?:[A-Za-z_][\w.-]*(?: [A-Za-z_][\w.-]*)*)?$/.test(prefixes))
    refuse(notAllowed, `the PrefixList is ${shownName(prefixes)}, expected prefixes`);
}

/** The `Algorithm` of an element that has no other attribute: xml-crypto does not look at an attribute's namespace. */
function algorithmOf(element: XmlElement): string {
  const algorithm = attributeOf(element, 'Algorithm');
  const attributes = Array.from(element.attributes).filter(({ namespaceURI }) => namespaceURI !== xmlnsNamespace);
  if (algorithm === undefined || attributes.length !== 1)
    refuse(notAsExpected, `${element.localName} has ${attributes.length} attributes, expected Algorithm alone`);
  return algorithm;
}

/** Exactly these children of the vocabulary of XML Signature, in this order. @throws LwsError `invalid-token` */
function childrenNamed(element: XmlElement, names: readonly string[]): XmlElement[] {
  const children = childrenOf(element);
  if (
    children.length !== names.length ||
    children.some((child, index) => !isNamed(child, signatureNamespace, names[index]!))
  )
    refuse(
      notAsExpected,
      `${element.localName} holds ${shownName(children.map(({ localName }) => localName).join(' '))}, expected ${shownName(names.join(' '))}`,
    );
  return children;
}

/** The bytes of a base64 text with line breaks (XML Schema base64Binary), strictly. @throws LwsError `invalid-token` */
export function readBase64(element: XmlElement): Buffer {
  const digits = textContentOf(element).replace(/[ \t\r\n]+/g, '');
  const bytes = Buffer.from(digits, 'base64');
  if (digits === '' || bytes.toString('base64') !== digits) refuse(notAsExpected, `${element.localName} is not base64`);
  return bytes;
}
