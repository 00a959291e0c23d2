/**
 * Checks the structure of a signed assertion: an assertion as root, one signature as its child, unique identifiers. Rejecting
 * anything else prevents signature wrapping.
 */
import type { XmlElement } from '../../lib/plugin/xml.js';
import { childElements, childrenOf } from './document.js';
import { assertionNamespace, protocolNamespace, signatureNamespace } from './identifiers.js';
import { refuse, shownName } from './refusal.js';

export interface SignedAssertion {
  readonly id: string;
  readonly signature: XmlElement;
  readonly signedInfo: XmlElement;
  readonly signatureValue: XmlElement;
}

/** Matches allowed identifiers: no colon (NCName), and no quote, because xml-crypto inserts them into an XPath expression. */
const identifier = /^[A-Za-z_][\w.-]{0,255}$/;

/** Elements that must be unique, because xml-crypto uses the first element in the document with this local name. */
const onceAlone =
  'Signature SignedInfo SignatureValue CanonicalizationMethod SignatureMethod Transforms DigestMethod DigestValue'.split(
    ' ',
  );

const notAlone = 'The credential must be one assertion with one signature of its own.';

/** Returns the ID and the signature elements of an assertion. @throws LwsError `invalid-token` */
export function dissectAssertion(root: XmlElement): SignedAssertion {
  assertRoot(root);
  const elements = [...childElements(root)];
  assertCounts(elements);
  const id = root.attribute('ID') ?? '';
  if (!identifier.test(id)) refuse(notAlone, `the ID of the assertion is ${shownName(id)}, expected an NCName`);
  assertUniqueIds(elements);
  const signature = childrenOf(root).find((child) => child.isNamed(signatureNamespace, 'Signature'));
  if (!signature) refuse(notAlone, 'the Signature is not a child of the assertion');
  return { id, signature, ...dissectSignature(signature) };
}

/** Asserts that the root is an assertion. Rejects a `Response`: the server does not check its status and destination. */
function assertRoot(root: XmlElement): void {
  if (root.isNamed(assertionNamespace, 'Assertion')) return;
  if (root.isNamed(protocolNamespace, 'Response'))
    refuse(
      'A SAML response is not a credential. Send only its assertion.',
      'the root element is a Response, expected Assertion',
    );
  refuse(notAlone, `the root element is ${shownName(`{${root.namespace}}${root.localName}`)}, expected Assertion`);
}

function assertCounts(elements: readonly XmlElement[]): void {
  const count = (localName: string): number => elements.filter((element) => element.localName === localName).length;
  if (count('Assertion') !== 1) refuse(notAlone, `${count('Assertion')} Assertion elements, expected one`);
  if (count('EncryptedAssertion') > 0) refuse(notAlone, 'an EncryptedAssertion, expected none');
  if (count('Signature') === 0) refuse('The assertion is not signed.', 'no Signature');
  for (const name of onceAlone)
    if (count(name) !== 1) refuse(notAlone, `${count(name)} ${name} elements, expected one`);
}

/** Asserts that identifiers are unique: `ID` of SAML, `Id` of XML Signature, and `id`. The reader rejects `xml:id`. */
function assertUniqueIds(elements: readonly XmlElement[]): void {
  const seen = new Set<string>();
  for (const { attributes } of elements)
    for (const { localName, value } of attributes) {
      if (localName.toLowerCase() !== 'id') continue;
      if (seen.has(value)) refuse(notAlone, `the identifier ${shownName(value)} is repeated`);
      seen.add(value);
    }
}

/**
 * Returns SignedInfo and SignatureValue (XML Signature 4.1). Ignores KeyInfo. Rejects an Object, which could contain anything.
 */
function dissectSignature(signature: XmlElement): Pick<SignedAssertion, 'signedInfo' | 'signatureValue'> {
  const children = childrenOf(signature);
  const names = children.map(({ localName }) => localName).join(' ');
  if (!/^SignedInfo SignatureValue(?: KeyInfo)?$/.test(names) || children.some((child) => !isOfSignature(child)))
    refuse(
      'The structure of the signature is not supported.',
      `the Signature contains ${shownName(names)}, expected "SignedInfo SignatureValue" and at most one KeyInfo`,
    );
  return { signedInfo: children[0]!, signatureValue: children[1]! };
}

const isOfSignature = (element: XmlElement): boolean => element.namespace === signatureNamespace;
