/** XML of request bodies, and parts of responses. */
import { createRequire } from 'node:module';
import { LwsError } from '../../lib/plugin/component.js';
import { decodeUtf8 } from '../../lib/plugin/requests.js';

export interface Name {
  readonly namespace: string;
  readonly localName: string;
}

export interface XmlElement extends Name {
  readonly node: DomNode;
}

/** Used part of a DOM node. */
interface DomNode {
  readonly nodeType: number;
  readonly namespaceURI?: string | null;
  readonly localName?: string;
  readonly prefix?: string | null;
  readonly childNodes: ArrayLike<DomNode>;
}

interface Xmldom {
  readonly DOMParser: new (options: {
    errorHandler: Readonly<Record<'warning' | 'error' | 'fatalError', (message: string) => never>>;
  }) => { parseFromString(source: string, mediaType: string): { readonly documentElement?: DomNode | null } };
}

// Not `import`: the package's types would add browser globals to the whole program.
const { DOMParser } = createRequire(import.meta.url)('@xmldom/xmldom') as Xmldom;

/** The message of the parser is not shown, because it quotes the body. */
function refuse(): never {
  throw new LwsError('malformed-body', 'The body is not well-formed XML.');
}

/** Parses a small document. @throws LwsError `malformed-body`, also for a document type, which could declare entities */
export function parseXml(bytes: Uint8Array): XmlElement {
  const text = decodeUtf8(bytes);
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new LwsError('malformed-body', 'The body must not have a document type.');
  const parser = new DOMParser({ errorHandler: { warning: refuse, error: refuse, fatalError: refuse } });
  return elementOf(parser.parseFromString(text, 'text/xml').documentElement ?? refuse());
}

const ncName = /^[\p{L}_][\p{L}\p{M}\p{N}._-]*$/u;

function elementOf(node: DomNode): XmlElement {
  const { namespaceURI, localName, prefix } = node;
  // An undeclared prefix (Namespaces in XML 5).
  if (!localName || !ncName.test(localName) || (prefix && !namespaceURI)) return refuse();
  return { node, namespace: namespaceURI ?? '', localName };
}

/** Returns the child elements. @throws LwsError `malformed-body` for an undeclared prefix */
export const childrenOf = ({ node }: XmlElement): XmlElement[] =>
  Array.from(node.childNodes)
    .filter(({ nodeType }) => nodeType === 1)
    .map(elementOf);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text. Characters that XML does not allow become U+FFFD. */
export const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character]!);
