/** Parses XML request bodies, and escapes text for responses. */
import { LwsError } from '../../lib/plugin/component.js';
import { decodeUtf8 } from '../../lib/plugin/requests.js';
import { XmlElement } from '../../lib/plugin/xml.js';

export interface Name {
  readonly namespace: string;
  readonly localName: string;
}

function refuse(): never {
  throw new LwsError('malformed-body', 'The body is not well-formed XML.');
}

/** Parses a small document. @throws LwsError `malformed-body`, also for a DOCTYPE, which could declare entities */
export function parseXml(bytes: Uint8Array): XmlElement {
  const text = decodeUtf8(bytes);
  if (/<!(?!--|\[CDATA\[)/.test(text)) throw new LwsError('malformed-body', 'The body must not have a document type.');
  return checked(XmlElement.parse(text, refuse));
}

const ncName = /^[\p{L}_][\p{L}\p{M}\p{N}._-]*$/u;

const checked = (element: XmlElement): XmlElement =>
  ncName.test(element.localName) && !element.hasUnknownPrefix ? element : refuse();

/** Returns the child elements. @throws LwsError `malformed-body` for an undeclared prefix */
export const checkedElements = ({ elements }: XmlElement): XmlElement[] => elements.map(checked);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML. Characters that XML does not allow become U+FFFD. */
export const escaped = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"]/g, (character) => entities[character]!);
