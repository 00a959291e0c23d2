/** XML as a tree: elements of xmldom, the parser that xml-crypto uses too, with all warnings fatal. */
import { createRequire } from 'node:module';

/** Used part of a DOM node. */
interface DomNode {
  readonly nodeType: number;
  readonly namespaceURI?: string | null;
  readonly prefix?: string | null;
  readonly localName: string;
  readonly textContent: string | null;
  readonly attributes: ArrayLike<Pick<DomNode, 'namespaceURI' | 'localName'> & { readonly value: string }>;
  readonly childNodes: ArrayLike<DomNode>;
}

interface Xmldom {
  readonly DOMParser: new (options: {
    errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', (message: string) => never>>;
  }) => { parseFromString(source: string, mediaType: string): { readonly documentElement?: DomNode | null } };
}

// Not `import`: the package's types would add browser globals to the whole program.
const require = createRequire(import.meta.url);

const [elementNode, textNode] = [1, 3];

export class XmlElement {
  /** Namespace IRI; empty for none. */
  readonly namespace: string;
  readonly localName: string;

  private constructor(readonly node: DomNode) {
    this.namespace = node.namespaceURI ?? '';
    this.localName = node.localName;
  }

  /** Parses a document. @param refuse throws if it is not well-formed, without the parser's message, which quotes the text */
  static parse(text: string, refuse: () => never): XmlElement {
    const { DOMParser } = require('@xmldom/xmldom') as Xmldom;
    const parser = new DOMParser({ errorHandler: { warning: refuse, error: refuse, fatalError: refuse } });
    return new XmlElement(parser.parseFromString(text, 'text/xml').documentElement ?? refuse());
  }

  /** True if the prefix of the element's name is not declared (Namespaces in XML 5). */
  get hasUnknownPrefix(): boolean {
    return Boolean(this.node.prefix) && this.namespace === '';
  }

  /** Text of the element and its descendants. */
  get text(): string {
    return this.node.textContent ?? '';
  }

  get attributes(): { readonly namespace: string; readonly localName: string; readonly value: string }[] {
    return Array.from(this.node.attributes, ({ namespaceURI, localName, value }) => ({
      namespace: namespaceURI ?? '',
      localName,
      value,
    }));
  }

  /** Child elements and texts; `undefined` for another node, such as a comment. */
  get content(): (XmlElement | string | undefined)[] {
    return Array.from(this.node.childNodes, (child) => {
      if (child.nodeType === elementNode) return new XmlElement(child);
      return child.nodeType === textNode ? (child.textContent ?? '') : undefined;
    });
  }

  get elements(): XmlElement[] {
    return this.content.filter((child) => child instanceof XmlElement);
  }

  isNamed(namespace: string, localName: string): boolean {
    return this.localName === localName && this.namespace === namespace;
  }

  /** Returns the value of an attribute without namespace, or `undefined`. */
  attribute(name: string): string | undefined {
    return this.attributes.find(({ namespace, localName }) => namespace === '' && localName === name)?.value;
  }
}
