/**
 * A strict reader of the small part of XML that assertions are written in: elements, attributes, text. It runs before the parser, so that
 * nothing reaches a lenient parser that could be read in two ways.
 */
import { assertCharacters, expandReferences } from './characters.js';
import { xmlNamespace } from './identifiers.js';
import {
  Declarations,
  type ExpandedName,
  expandAttribute,
  expandElement,
  outermost,
  type RawAttribute,
  type Scope,
} from './namespaces.js';
import { refuseXml, shownName } from './refusal.js';

export interface ReadAttribute extends ExpandedName {
  readonly value: string;
}

export interface ReadElement extends ExpandedName {
  /** Namespace declarations among them. */
  readonly attributes: readonly ReadAttribute[];
}

export interface Markup {
  /** The root element as written, without declaration and white space around it. */
  readonly xml: string;
  /** In document order. */
  readonly elements: readonly ReadElement[];
  /** All text, in document order. */
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
 * Reads a document.
 * @throws LwsError `invalid-token` for what is not well-formed, and for every construct an assertion does not need:
 *   DOCTYPE, entities, processing instructions, comments, CDATA, other encodings, deep or large trees
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

/** How long the XML declaration and the white space before the root are. */
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

/** What begins at a `<` that begins no tag. */
function kindOf(text: string): string {
  if (text.startsWith('<!--')) return 'a comment';
  if (text.startsWith('<![CDATA[')) return 'a CDATA section';
  if (/^<!DOCTYPE/i.test(text)) return 'a DOCTYPE';
  if (text.startsWith('<!')) return 'a markup declaration';
  if (text.startsWith('<?')) return 'a processing instruction';
  return text.startsWith('<') ? 'a tag' : 'text';
}

interface OpenElement {
  readonly qualified: string;
  readonly scope: Scope;
}

/** Where the reading is; its one life is one document. */
class Reader {
  readonly elements: ReadElement[] = [];
  readonly texts: string[] = [];
  private readonly open: OpenElement[] = [];
  private readonly declarations = new Declarations();
  private attributeCount = 0;

  constructor(
    private readonly text: string,
    public position: number,
  ) {}

  get depth(): number {
    return this.open.length;
  }

  /** Reads the next tag or run of text. */
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
    // XML 1.0 2.4: it closes a CDATA section, and nothing else.
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
    if (seen.has(key)) refuseXml(`the attribute ${shownName(qualified)} stands twice in one tag`);
    seen.add(key);
    // xml:id is an identifier, xml:base and xml:space change how content is read; none is of use in an assertion.
    if (name.namespace === xmlNamespace && name.localName !== 'lang')
      refuseXml(`the attribute ${shownName(qualified)} is not accepted`);
    // XML 1.0 3.3.3: white space as written becomes spaces, from a reference it stays.
    return { ...name, value: expandReferences(normalizeLineEnds(raw).replace(/[\t\n]/g, ' ')) };
  });
}

const normalizeLineEnds = (text: string): string => text.replace(/\r\n?/g, '\n');
