/** Parses XML documents to trees. Warnings of the parser xmldom are errors. A stricter reader must return the same result. */
import { XmlElement } from '../../lib/plugin/xml.js';
import { type Markup, type ReadAttribute, readMarkup } from './markup.js';
import { refuse, refuseXml, shownName } from './refusal.js';

export interface XmlDocument {
  readonly root: XmlElement;
  /** Text from which `root` was parsed: the root element only. */
  readonly xml: string;
}

function complain(): never {
  // Omit the message of the parser, because it quotes the document.
  refuseXml('the XML parser rejects it');
}

/** Parses a document. @throws LwsError `invalid-token` if the strict reader or the parser rejects it, or the results differ */
export function parseDocument(text: string): XmlDocument {
  const markup = readMarkup(text);
  const root = XmlElement.parse(markup.xml, complain);
  assertAgreement(root, markup);
  return { root, xml: markup.xml };
}

/** Asserts that both parsers have the same result. xml-crypto also uses xmldom, so it verifies the same document. */
function assertAgreement(root: XmlElement, { elements, text }: Markup): void {
  const parsed = [...childElements(root)];
  const agrees =
    parsed.length === elements.length &&
    root.text === text &&
    parsed.every((element, index) => {
      const read = elements[index]!;
      return element.isNamed(read.namespace, read.localName) && haveSameAttributes(element, read.attributes);
    });
  if (!agrees) refuseXml('the XML parser has a different result');
}

const haveSameAttributes = ({ attributes }: XmlElement, read: readonly ReadAttribute[]): boolean =>
  attributes.length === read.length &&
  attributes.every(({ namespace, localName, value }, index) => {
    const same = read[index]!;
    return namespace === same.namespace && localName === same.localName && value === same.value;
  });

/** Yields an element and its descendants, in document order. */
export function* childElements(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of element.elements) yield* childElements(child);
}

/** Returns the children of an element that has only elements. @throws LwsError `invalid-token` if there is text between them */
export function childrenOf(element: XmlElement): XmlElement[] {
  if (element.content.some((child) => !(child instanceof XmlElement || /^[ \t\r\n]*$/.test(child ?? 'other'))))
    refuse(
      'The structure of the assertion is not supported.',
      `${element.localName} contains text between its elements`,
    );
  return element.elements;
}

/**
 * Returns the text of an element that has only text. @throws LwsError `invalid-token` unless there is exactly one run of text:
 * if the element has a child or a comment, two readers could see different values
 */
export function textContentOf(element: XmlElement): string {
  const [only, ...others] = element.content;
  if (typeof only !== 'string' || others.length > 0 || only === '')
    refuse(
      'The structure of the assertion is not supported.',
      `${element.localName} contains something other than one text`,
    );
  return only;
}

/** Returns the only child with a name. @throws LwsError `invalid-token` if there is not exactly one */
export function onlyChild(element: XmlElement, namespace: string, localName: string): XmlElement {
  const found = childrenOf(element).filter((child) => child.isNamed(namespace, localName));
  if (found.length !== 1)
    refuse(
      'The structure of the assertion is not supported.',
      `${element.localName} contains ${found.length} ${localName}, expected one (its elements: ${shownName(
        childrenOf(element)
          .map((child) => child.localName)
          .join(' '),
      )})`,
    );
  return found[0]!;
}
