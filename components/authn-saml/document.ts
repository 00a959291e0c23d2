/** XML documents as trees: parsed by xmldom with every complaint fatal, and only believed when the strict reader saw the same. */
import { createRequire } from 'node:module';
import { type Markup, type ReadAttribute, readMarkup } from './markup.js';
import { refuse, refuseXml, shownName } from './refusal.js';

/** What is used of a DOM node. */
export interface XmlNode {
  readonly nodeType: number;
  readonly textContent: string | null;
}

export interface AssertionAttribute {
  readonly namespaceURI?: string | null;
  readonly localName: string;
  readonly value: string;
}

export interface XmlElement extends XmlNode {
  readonly namespaceURI?: string | null;
  readonly localName: string;
  readonly attributes: ArrayLike<AssertionAttribute>;
  readonly childNodes: ArrayLike<XmlNode>;
}

export interface XmlDocument {
  readonly root: XmlElement;
  /** The text that `root` was parsed from: the root element alone. */
  readonly xml: string;
}

interface Xmldom {
  readonly DOMParser: new (options: {
    errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', (message: string) => never>>;
  }) => { parseFromString(source: string, mediaType: string): { readonly documentElement?: XmlElement | null } };
}

// Not `import`: the package's own types would make the globals of a browser known in the whole program.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as Xmldom;

const elementNode = 1;
const textNode = 3;

function complain(): never {
  // Without the parser's message: it quotes the document.
  refuseXml('the XML parser finds it malformed');
}

/** @throws LwsError `invalid-token` for what the strict reader or the parser refuses, or the two see differently */
export function parseDocument(text: string): XmlDocument {
  const markup = readMarkup(text);
  const parser = new DOMParser({ errorHandler: { warning: complain, error: complain, fatalError: complain } });
  const root = parser.parseFromString(markup.xml, 'text/xml').documentElement;
  if (!root) return complain();
  assertAgreement(root, markup);
  return { root, xml: markup.xml };
}

/** xml-crypto parses as we do, so what both see is also what it verifies. */
function assertAgreement(root: XmlElement, { elements, text }: Markup): void {
  const parsed = [...childElements(root)];
  const agrees =
    parsed.length === elements.length &&
    root.textContent === text &&
    parsed.every((element, index) => {
      const read = elements[index]!;
      return isNamed(element, read.namespace, read.localName) && haveSameAttributes(element, read.attributes);
    });
  if (!agrees) refuseXml('the XML parser reads it in another way');
}

function haveSameAttributes({ attributes }: XmlElement, read: readonly ReadAttribute[]): boolean {
  if (attributes.length !== read.length) return false;
  return Array.from(attributes).every((attribute, index) => {
    const { namespace, localName, value } = read[index]!;
    return (
      (attribute.namespaceURI ?? '') === namespace && attribute.localName === localName && attribute.value === value
    );
  });
}

const isElement = (node: XmlNode): node is XmlElement => node.nodeType === elementNode;

export const isNamed = (element: XmlElement, namespace: string, localName: string): boolean =>
  element.localName === localName && (element.namespaceURI ?? '') === namespace;

/** An element and all below it, in document order. */
export function* childElements(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of Array.from(element.childNodes)) if (isElement(child)) yield* childElements(child);
}

/** The value of an attribute in no namespace. */
export const attributeOf = (element: XmlElement, name: string): string | undefined =>
  Array.from(element.attributes).find(({ namespaceURI, localName }) => !namespaceURI && localName === name)?.value;

/** The children of an element that holds elements alone. @throws LwsError `invalid-token` for text between them */
export function childrenOf(element: XmlElement): XmlElement[] {
  const children: XmlElement[] = [];
  for (const child of Array.from(element.childNodes)) {
    if (isElement(child)) children.push(child);
    else if (child.nodeType !== textNode || !/^[ \t\r\n]*$/.test(child.textContent ?? ''))
      refuse('The assertion is not built as expected.', `${element.localName} holds text between its elements`);
  }
  return children;
}

/**
 * The content of an element that holds text alone, as it is.
 * @throws LwsError `invalid-token` for no text, and for anything beside one run of text: a child or a comment would let
 *   two readers see two values
 */
export function textContentOf(element: XmlElement): string {
  const [only, ...others] = Array.from(element.childNodes);
  if (only?.nodeType !== textNode || others.length > 0 || !only.textContent)
    refuse('The assertion is not built as expected.', `${element.localName} holds something other than one text`);
  return only.textContent;
}

/** The one child of a name. @throws LwsError `invalid-token` when there is none or another */
export function onlyChild(element: XmlElement, namespace: string, localName: string): XmlElement {
  const found = childrenOf(element).filter((child) => isNamed(child, namespace, localName));
  if (found.length !== 1)
    refuse(
      'The assertion is not built as expected.',
      `${element.localName} holds ${found.length} ${localName}, expected one (its elements: ${shownName(
        childrenOf(element)
          .map((child) => child.localName)
          .join(' '),
      )})`,
    );
  return found[0]!;
}
