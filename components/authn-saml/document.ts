/** XML documents as trees: parsed by xmldom with all warnings fatal, and accepted only if the strict reader has the same result. */
import { createRequire } from 'node:module';
import { type Markup, type ReadAttribute, readMarkup } from './markup.js';
import { refuse, refuseXml, shownName } from './refusal.js';

/** Used part of a DOM node. */
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
  /** Text that `root` was parsed from: the root element only. */
  readonly xml: string;
}

interface Xmldom {
  readonly DOMParser: new (options: {
    errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', (message: string) => never>>;
  }) => { parseFromString(source: string, mediaType: string): { readonly documentElement?: XmlElement | null } };
}

// Not `import`: the package's types would add browser globals to the whole program.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as Xmldom;

const elementNode = 1;
const textNode = 3;

function complain(): never {
  // Without the parser's message, which quotes the document.
  refuseXml('the XML parser rejects it');
}

/** @throws LwsError `invalid-token` if the strict reader or the parser rejects it, or their results differ */
export function parseDocument(text: string): XmlDocument {
  const markup = readMarkup(text);
  const parser = new DOMParser({ errorHandler: { warning: complain, error: complain, fatalError: complain } });
  const root = parser.parseFromString(markup.xml, 'text/xml').documentElement;
  if (!root) return complain();
  assertAgreement(root, markup);
  return { root, xml: markup.xml };
}

/** xml-crypto uses the same parser, so it verifies the same document. */
function assertAgreement(root: XmlElement, { elements, text }: Markup): void {
  const parsed = [...childElements(root)];
  const agrees =
    parsed.length === elements.length &&
    root.textContent === text &&
    parsed.every((element, index) => {
      const read = elements[index]!;
      return isNamed(element, read.namespace, read.localName) && haveSameAttributes(element, read.attributes);
    });
  if (!agrees) refuseXml('the XML parser has a different result');
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

/** Yields an element and its descendants, in document order. */
export function* childElements(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of Array.from(element.childNodes)) if (isElement(child)) yield* childElements(child);
}

/** Returns the value of an attribute without namespace. */
export const attributeOf = (element: XmlElement, name: string): string | undefined =>
  Array.from(element.attributes).find(({ namespaceURI, localName }) => !namespaceURI && localName === name)?.value;

/** Returns the children of an element with element-only content. @throws LwsError `invalid-token` for text between them */
export function childrenOf(element: XmlElement): XmlElement[] {
  const children: XmlElement[] = [];
  for (const child of Array.from(element.childNodes)) {
    if (isElement(child)) children.push(child);
    else if (child.nodeType !== textNode || !/^[ \t\r\n]*$/.test(child.textContent ?? ''))
      refuse(
        'The structure of the assertion is not supported.',
        `${element.localName} contains text between its elements`,
      );
  }
  return children;
}

/**
 * Returns the unchanged content of a text-only element.
 * @throws LwsError `invalid-token` unless there is exactly one run of text: with a child or a comment, two readers could see
 * different values
 */
export function textContentOf(element: XmlElement): string {
  const [only, ...others] = Array.from(element.childNodes);
  if (only?.nodeType !== textNode || others.length > 0 || !only.textContent)
    refuse(
      'The structure of the assertion is not supported.',
      `${element.localName} contains something other than one text`,
    );
  return only.textContent;
}

/** Returns the only child of a name. @throws LwsError `invalid-token` if it is missing or not the only one */
export function onlyChild(element: XmlElement, namespace: string, localName: string): XmlElement {
  const found = childrenOf(element).filter((child) => isNamed(child, namespace, localName));
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
