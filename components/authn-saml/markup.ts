/**
 * Strict reader of the small subset of XML that assertions need: elements, attributes, text. It runs before the lenient parser,
 * which therefore never sees an ambiguous document.
 */
import { htmlNamespace, xmlNamespace, xmlnsNamespace } from './identifiers.js';
import { refuseXml, shownName } from './refusal.js';

/**
 * Matches characters that an assertion must not contain.
 *
 * Narrower than XML 1.0: excludes C1 controls, and U+0085 and U+2028, which the parser reads as line ends (XML 1.1), while a
 * signer that uses XML 1.0 does not.
 */
const forbidden = /[^\t\n\r\u0020-\u007e\u00a0-\u2027\u2029-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const reference = /&([^;&<]{0,10};?)/g;
const predefined = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
]);

const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** Asserts that a text has only allowed characters. @throws LwsError `invalid-token` */
function assertCharacters(text: string): void {
  const [found] = forbidden.exec(text) ?? [];
  if (found !== undefined) refuseXml(`the character ${codeOf(found)} is not accepted`);
}

/**
 * Replaces the references of a string (XML 1.0 4.1, 4.6).
 * @throws LwsError `invalid-token` for entities other than the five predefined ones, and for forbidden characters
 */
const expandReferences = (text: string): string =>
  text.includes('&') ? text.replace(reference, (_, body: string) => predefined.get(body) ?? characterOf(body)) : text;

function characterOf(body: string): string {
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([\dA-Fa-f]{1,6}));$/.exec(body) ?? [];
  if (decimal === undefined && hexadecimal === undefined)
    return refuseXml(`the reference ${JSON.stringify(`&${body}`)} is not a predefined entity or a character`);
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > 0x10ffff || forbidden.test(String.fromCodePoint(code)))
    return refuseXml(`the reference ${JSON.stringify(`&${body}`)} is to a character that is not accepted`);
  return String.fromCodePoint(code);
}

/** Namespaces by prefix. The default namespace has an empty prefix. */
type Scope = ReadonlyMap<string, string>;

export interface RawAttribute {
  readonly qualified: string;
  /** Raw text of the value: references and white space are unchanged. */
  readonly raw: string;
}

export interface ExpandedName {
  readonly namespace: string;
  readonly localName: string;
}

const outermost: Scope = new Map([['xml', xmlNamespace]]);

/** Maximum count of prefixes in a document, because canonicalization processes all prefixes at each element. */
const maxPrefixes = 64;

// Matches allowed namespaces. They are absolute, as Canonical XML requires (1.1, section 1). They need no escapes, because
// xml-crypto writes namespaces unescaped into the canonical form.
const namespaceName = /^[A-Za-z][A-Za-z0-9+.-]*:[\w\-.~:/?#[\]@!$()*+,;=%]+$/;

/** Tracks the prefixes of a document. A prefix must have only one namespace: names have the same meaning at every position. */
class Declarations {
  private readonly bound = new Map<string, string>();

  /** Returns the namespaces in scope inside an element. @throws LwsError `invalid-token` */
  enter(outer: Scope, attributes: readonly RawAttribute[]): Scope {
    const own = attributes.filter(({ qualified }) => qualified.startsWith('xmlns'));
    if (own.length === 0) return outer;
    const scope = new Map(outer);
    for (const { qualified, raw } of own) scope.set(this.declare(qualified, raw), raw);
    return scope;
  }

  private declare(qualified: string, namespace: string): string {
    // xml-crypto omits every attribute whose name starts like this, so the attribute would not be signed.
    if (qualified !== 'xmlns' && !qualified.startsWith('xmlns:'))
      refuseXml(`the attribute ${shownName(qualified)} only looks like a namespace declaration`);
    const prefix = qualified.slice('xmlns:'.length);
    if (/^xml/i.test(prefix)) refuseXml(`the prefix ${shownName(prefix)} is reserved`);
    if (!namespaceName.test(namespace)) refuseXml(`the namespace ${shownName(namespace)} is not an absolute URI`);
    // xmldom parses elements in the HTML namespace differently. The namespaces `xml` and `xmlns` must not be declared.
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

/** Returns namespace and local name of an element. @throws LwsError `invalid-token` for an undeclared prefix */
function expandElement(qualified: string, scope: Scope): ExpandedName {
  const [prefix, localName] = split(qualified);
  return { namespace: namespaceOf(prefix, scope), localName };
}

/**
 * Returns namespace and local name of an attribute. Without a prefix, it has no namespace (Namespaces in XML 6.2). @throws
 * LwsError as `expandElement`
 */
function expandAttribute(qualified: string, scope: Scope): ExpandedName {
  if (qualified === 'xmlns' || qualified.startsWith('xmlns:'))
    return { namespace: xmlnsNamespace, localName: split(qualified)[1] };
  const [prefix, localName] = split(qualified);
  return { namespace: prefix === '' ? '' : namespaceOf(prefix, scope), localName };
}

function split(qualified: string): [prefix: string, localName: string] {
  const colon = qualified.indexOf(':');
  const parts: [string, string] = [qualified.slice(0, Math.max(colon, 0)), qualified.slice(colon + 1)];
  // The parser uses names as keys of plain objects, so names such as `constructor` are not safe.
  for (const part of [qualified, ...parts])
    if (part in Object.prototype) refuseXml(`the name ${shownName(qualified)} is not accepted`);
  return parts;
}

function namespaceOf(prefix: string, scope: Scope): string {
  const namespace = scope.get(prefix);
  if (namespace === undefined && prefix !== '') refuseXml(`the prefix ${shownName(prefix)} is not declared`);
  return namespace ?? '';
}

export interface ReadAttribute extends ExpandedName {
  readonly value: string;
}

export interface ReadElement extends ExpandedName {
  /** Attributes, including namespace declarations. */
  readonly attributes: readonly ReadAttribute[];
}

export interface Markup {
  /** Raw text of the root element, without XML declaration and surrounding white space. */
  readonly xml: string;
  /** Elements in document order. */
  readonly elements: readonly ReadElement[];
  /** Concatenated text content, in document order. */
  readonly text: string;
}

const maxDepth = 32;
const maxElements = 1000;
const maxAttributes = 2000;

const space = '[ \\t\\r\\n]';
const qualifiedName = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?';
const startTag = new RegExp(`<(${qualifiedName})`, 'y');
const attribute = new RegExp(`${space}+(${qualifiedName})${space}*=${space}*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const startTagEnd = new RegExp(`${space}*(/?)>`, 'y');
const endTag = new RegExp(`</(${qualifiedName})${space}*>`, 'y');
const characterData = /[^<]+/y;
const blank = /^[ \t\r\n]*$/;
const declaration =
  /^<\?xml[ \t\r\n]+version=(["'])1\.0\1(?:[ \t\r\n]+encoding=(["'])([A-Za-z][\w.-]*)\2)?(?:[ \t\r\n]+standalone=(["'])(?:yes|no)\4)?[ \t\r\n]*\?>/;

/**
 * Parses a document.
 * @throws LwsError `invalid-token` if it is not well-formed, and for constructs that assertions do not need: DOCTYPE, entities,
 * processing instructions, comments, CDATA, other encodings, deep or large trees
 */
export function readMarkup(text: string): Markup {
  assertCharacters(text);
  const reader = new Reader(text, prologLength(text));
  const start = reader.position;
  do reader.next();
  while (reader.depth > 0);
  const after = text.slice(reader.position);
  if (!blank.test(after)) refuseXml(`content after the root element: ${kindOf(after.trimStart())}`);
  return { xml: text.slice(start, reader.position), elements: reader.elements, text: reader.texts.join('') };
}

/** Returns the length of the XML declaration and the white space before the root element. */
function prologLength(text: string): number {
  const [prolog = '', , , encoding] = declaration.exec(text) ?? [];
  const [declared] = /^<\?xml[ \t\r\n?][^>]*/.exec(text) ?? [];
  if (prolog === '' && declared !== undefined)
    refuseXml(`the XML declaration is malformed or of another version: ${shownName(declared)}`);
  if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
    refuseXml(`the XML declaration says ${shownName(encoding)}, expected UTF-8`);
  const rest = text.slice(prolog.length);
  const length = text.length - rest.replace(/^[ \t\r\n]+/, '').length;
  if (text[length] !== '<') refuseXml('the document does not begin with a tag');
  return length;
}

/** Returns a description of markup that is not a tag, for the log. */
function kindOf(text: string): string {
  if (text.startsWith('<!--')) return 'a comment';
  if (text.startsWith('<![CDATA[')) return 'a CDATA section';
  if (/^<!DOCTYPE/i.test(text)) return 'a DOCTYPE';
  if (text.startsWith('<!')) return 'a markup declaration';
  if (text.startsWith('<?')) return 'a processing instruction';
  return text.startsWith('<') ? 'a tag' : 'text';
}

/** Parser for one document. */
class Reader {
  readonly elements: ReadElement[] = [];
  readonly texts: string[] = [];
  private readonly open: { readonly qualified: string; readonly scope: Scope }[] = [];
  private readonly declarations = new Declarations();
  private attributeCount = 0;

  constructor(
    private readonly text: string,
    public position: number,
  ) {}

  get depth(): number {
    return this.open.length;
  }

  /** Reads the next tag or the next text. */
  next(): void {
    if (this.position >= this.text.length) refuseXml('the document ends inside an element');
    const [first, second] = this.text.slice(this.position, this.position + 2);
    if (first !== '<') this.readText();
    else if (second === '/') this.readEndTag();
    else if (second !== '!' && second !== '?') this.readStartTag();
    else refuseXml(`${kindOf(this.text.slice(this.position, this.position + 9))} is not accepted`);
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text);
    if (match) this.position = pattern.lastIndex;
    return match;
  }

  private readText(): void {
    const [text] = this.take(characterData)!;
    // XML 1.0 2.4: `]]>` is allowed only at the end of a CDATA section.
    if (text.includes(']]>')) refuseXml('"]]>" in text');
    this.texts.push(expandReferences(normalizeLineEnds(text)));
  }

  private readStartTag(): void {
    const [, qualified] = this.take(startTag) ?? refuseXml('a malformed start tag');
    const attributes: RawAttribute[] = [];
    for (let match = this.take(attribute); match; match = this.take(attribute))
      attributes.push({ qualified: match[1]!, raw: match[2] ?? match[3]! });
    const [, slash] = this.take(startTagEnd) ?? refuseXml(`the start tag of ${shownName(qualified)} is malformed`);
    this.attributeCount += attributes.length;
    this.assertSize();
    const scope = this.declarations.enter(this.open.at(-1)?.scope ?? outermost, attributes);
    this.elements.push({ ...expandElement(qualified!, scope), attributes: readAttributes(attributes, scope) });
    if (slash === '') this.open.push({ qualified: qualified!, scope });
  }

  private assertSize(): void {
    if (this.depth >= maxDepth) refuseXml(`elements are nested more than ${maxDepth} deep`);
    if (this.elements.length >= maxElements) refuseXml(`more than ${maxElements} elements`);
    if (this.attributeCount > maxAttributes) refuseXml(`more than ${maxAttributes} attributes`);
  }

  private readEndTag(): void {
    const [, qualified] = this.take(endTag) ?? refuseXml('a malformed end tag');
    const expected = this.open.pop()?.qualified;
    if (qualified !== expected) refuseXml(`the end tag is of ${shownName(qualified)}, expected ${shownName(expected)}`);
  }
}

function readAttributes(attributes: readonly RawAttribute[], scope: Scope): ReadAttribute[] {
  const seen = new Set<string>();
  return attributes.map(({ qualified, raw }) => {
    const name = expandAttribute(qualified, scope);
    const key = `${name.namespace} ${name.localName}`;
    if (seen.has(key)) refuseXml(`the attribute ${shownName(qualified)} is repeated in one tag`);
    seen.add(key);
    // Reject xml:id, which is an identifier, and xml:base and xml:space, which change the meaning of content. Assertions need
    // none of them.
    if (name.namespace === xmlNamespace && name.localName !== 'lang')
      refuseXml(`the attribute ${shownName(qualified)} is not accepted`);
    // XML 1.0 3.3.3: literal white space becomes spaces; white space from character references stays.
    return { ...name, value: expandReferences(normalizeLineEnds(raw).replace(/[\t\n]/g, ' ')) };
  });
}

const normalizeLineEnds = (text: string): string => text.replace(/\r\n?/g, '\n');
