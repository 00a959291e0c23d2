/** Namespaces in XML 1.0, without what makes two readers see two names: it resolves the names of one tag. */
import { htmlNamespace, xmlNamespace, xmlnsNamespace } from './identifiers.js';
import { refuseXml, shownName } from './refusal.js';

/** Prefix to namespace; the default namespace under the empty prefix. */
export type Scope = ReadonlyMap<string, string>;

export interface RawAttribute {
  readonly qualified: string;
  /** As written, references and white space included. */
  readonly raw: string;
}

export interface ExpandedName {
  readonly namespace: string;
  readonly localName: string;
}

export const outermost: Scope = new Map([['xml', xmlNamespace]]);

/** The most prefixes in a document: canonicalisation takes time for each of them at each of the elements. */
const maxPrefixes = 64;

// Absolute, as Canonical XML demands (1.1, section 1), and of characters that need no escape: xml-crypto writes a
// namespace into the canonical form as it is.
const namespaceName = /^[A-Za-z][A-Za-z0-9+.-]*:[\w\-.~:/?#[\]@!$()*+,;=%]+$/;

/** The prefixes of one document: each keeps its one namespace, so that a name means the same wherever it is moved. */
export class Declarations {
  private readonly bound = new Map<string, string>();

  /** The scope inside a tag. @throws LwsError `invalid-token` */
  enter(outer: Scope, attributes: readonly RawAttribute[]): Scope {
    const own = attributes.filter(({ qualified }) => qualified.startsWith('xmlns'));
    if (own.length === 0) return outer;
    const scope = new Map(outer);
    for (const { qualified, raw } of own) scope.set(this.declare(qualified, raw), raw);
    return scope;
  }

  private declare(qualified: string, namespace: string): string {
    // xml-crypto leaves out every attribute whose name begins so: it would be one that nobody signed.
    if (qualified !== 'xmlns' && !qualified.startsWith('xmlns:'))
      refuseXml(`the attribute ${shownName(qualified)} only looks like a namespace declaration`);
    const prefix = qualified.slice('xmlns:'.length);
    if (/^xml/i.test(prefix)) refuseXml(`the prefix ${shownName(prefix)} is reserved`);
    if (!namespaceName.test(namespace)) refuseXml(`the namespace ${shownName(namespace)} is no absolute URI`);
    // The parser reads HTML by other rules, and the two of XML itself may not be declared.
    if ([htmlNamespace, xmlNamespace, xmlnsNamespace].includes(namespace))
      refuseXml(`the namespace ${namespace} is not accepted`);
    const known = this.bound.get(prefix);
    if (prefix !== '' && known !== undefined && known !== namespace)
      refuseXml(`the prefix ${prefix} is redefined from ${shownName(known)} to ${shownName(namespace)}`);
    this.bound.set(prefix, namespace);
    if (this.bound.size > maxPrefixes) refuseXml(`more than ${maxPrefixes} prefixes`);
    return prefix;
  }
}

/** @throws LwsError `invalid-token` for a prefix that is not declared */
export function expandElement(qualified: string, scope: Scope): ExpandedName {
  const [prefix, localName] = split(qualified);
  return { namespace: namespaceOf(prefix, scope), localName };
}

/** An attribute without a prefix is in no namespace (Namespaces in XML 6.2). @throws LwsError as `expandElement` */
export function expandAttribute(qualified: string, scope: Scope): ExpandedName {
  if (qualified === 'xmlns' || qualified.startsWith('xmlns:'))
    return { namespace: xmlnsNamespace, localName: split(qualified)[1] };
  const [prefix, localName] = split(qualified);
  return { namespace: prefix === '' ? '' : namespaceOf(prefix, scope), localName };
}

function split(qualified: string): [prefix: string, localName: string] {
  const colon = qualified.indexOf(':');
  const parts: [string, string] = [qualified.slice(0, Math.max(colon, 0)), qualified.slice(colon + 1)];
  // The parser keeps names as members of plain objects.
  for (const part of [qualified, ...parts])
    if (part in Object.prototype) refuseXml(`the name ${shownName(qualified)} is not accepted`);
  return parts;
}

function namespaceOf(prefix: string, scope: Scope): string {
  const namespace = scope.get(prefix);
  if (namespace === undefined && prefix !== '') refuseXml(`the prefix ${shownName(prefix)} is not declared`);
  return namespace ?? '';
}
