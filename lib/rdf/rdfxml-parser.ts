/**
 * RDF/XML parser: `rdfxml-streaming-parser`, with corrections between the parser and its XML parser. The corrections concern
 * text in pieces, a document element other than rdf:RDF, XML literals, and stray text.
 */
import type { DataFactory, NamedNode, Quad, Term } from '@rdfjs/types';
import { RdfXmlParser } from 'rdfxml-streaming-parser';
import { rdf } from './vocabulary.js';

/** Parser state of an open element. */
interface OpenElement {
  /** Present for a property element without parseType="Resource". */
  readonly predicate?: Term | null;
  text?: string;
  hadChildren?: boolean;
  /** Content of an XML literal, shared by all elements inside it. */
  childrenStringTags?: string[];
  childrenStringEmitClosingTag?: string;
  readonly childrenTagsToString?: boolean;
  readonly childrenParseType?: number;
  /** Present for rdf:parseType="Collection": the element can then have any count of children. */
  readonly childrenCollectionSubject?: Term;
  baseIRI?: string;
}

/** Members of the parser that its type declarations do not include. */
interface Inside {
  readonly activeTagStack: OpenElement[];
  readonly saxParser: {
    on(name: 'comment', handler: (text: string) => void): void;
    on(name: 'processinginstruction', handler: (data: { target: string; body: string }) => void): void;
    close(): void;
  };
  onTag(tag: XmlTag): void;
  onText(text: string): void;
  onCloseTag(): void;
  newParseError(message: string): Error;
  valueToUri(value: string, open: OpenElement): NamedNode;
  uriToNamedNode(iri: string): NamedNode;
  emitTriple(subject: Term, predicate: Term, object: Term, ...more: unknown[]): void;
}

const nodeElements = 0;
const propertyElements = 1;
/** Maximum depth of elements, because each element looks up namespaces in all open elements. */
const deepest = 1_000;
const isBlank = (text: string): boolean => !/[^ \t\r\n]/.test(text);

/** Parses the triples of a document. @throws Error with the fault and its position */
export function rdfXmlQuads(text: string, base: string, factory: DataFactory<Quad>): Promise<Quad[]> {
  const parser = new RdfXmlParser({ baseIRI: base, trackPosition: true, dataFactory: factory as never });
  const inside = parser as unknown as Inside;
  correct(inside, base);
  // As in Turtle, only relative references are resolved and lose dot segments.
  const { valueToUri } = inside;
  inside.valueToUri = (value, open) =>
    /^[A-Za-z][\w+.-]*:/.test(value) ? inside.uriToNamedNode(value) : valueToUri.call(inside, value, open);
  emitMarkedAsIris(inside, factory);
  const quads: Quad[] = [];
  return new Promise((resolve, reject) => {
    parser.on('data', (quad: Quad) => quads.push(quad));
    parser.on('error', reject);
    parser.on('end', () => {
      try {
        // Close the XML parser to check that the document is complete, which the RDF/XML parser does not check.
        inside.saxParser.close();
        resolve(quads);
      } catch (error) {
        reject(error);
      }
    });
    parser.end(text);
  });
}

/** Replaces the event handlers of the XML parser. The new handlers call the handlers of the RDF parser. */
function correct(inside: Inside, base: string): void {
  const sax = inside.saxParser as unknown as { on(name: string, handler: (argument: never) => void): void };
  const stack = inside.activeTagStack;
  const literals: XmlLiteral[] = [];
  const stray = (): Error => inside.newParseError('Text is not allowed between elements');

  sax.on('opentag', (tag: XmlTag) => {
    if (stack.length === 0) openDocument(inside, tag, base);
    if (stack.length > deepest) throw inside.newParseError(`More than ${deepest} elements are open`);
    const parent = stack.at(-1);
    const literal = literals.at(-1);
    if (parent?.childrenStringTags && literal) {
      const element = literal.open(tag);
      parent.childrenStringTags.push(element.start);
      parent.hadChildren = true;
      stack.push({ childrenStringTags: parent.childrenStringTags, childrenStringEmitClosingTag: element.end });
      return;
    }
    const fault = attributesFault(tag, parent?.childrenParseType === propertyElements);
    if (fault !== undefined) throw inside.newParseError(fault);
    // RDF/XML 7.2.15, 7.2.16, 7.2.21: a property has one value: an element, an attribute or text.
    if (parent?.predicate && parent.hadChildren && !parent.childrenCollectionSubject)
      throw inside.newParseError('A property element has more than one value');
    if (parent?.childrenParseType === propertyElements) openProperty(inside, tag, parent);
    else inside.onTag(tag);
    if (stack.at(-1)?.childrenTagsToString) literals.push(new XmlLiteral());
  });
  const onText = (text: string): void => {
    const open = stack.at(-1);
    if (!open) return;
    if (open.childrenStringTags) open.childrenStringTags.push(XmlLiteral.text(text));
    else if (open.predicate) open.text = (open.text ?? '') + text;
    else if (!isBlank(text)) throw stray();
  };
  sax.on('text', onText);
  sax.on('cdata', onText);
  sax.on('comment', (text: string) => void stack.at(-1)?.childrenStringTags?.push(`<!--${text}-->`));
  sax.on('processinginstruction', ({ target, body }: { target: string; body: string }) => {
    stack.at(-1)?.childrenStringTags?.push(`<?${target}${body === '' ? '' : ` ${body}`}?>`);
  });
  sax.on('closetag', () => {
    const open = stack.at(-1)!;
    if (open.childrenStringEmitClosingTag !== undefined) literals.at(-1)!.close();
    else if (open.childrenTagsToString) literals.pop();
    else if (open.hadChildren && open.text !== undefined && !isBlank(open.text)) throw stray();
    inside.onCloseTag();
  });
}

/** Applies xml:base of a property element: the parser reads it only on node elements, so the base of the parent is changed. */
function openProperty(inside: Inside, tag: XmlTag, parent: OpenElement): void {
  const { baseIRI = '' } = parent;
  const own = Object.values(tag.attributes).find(({ uri, local }) => uri === xmlNamespace && local === 'base');
  if (own) parent.baseIRI = inside.valueToUri(own.value, parent).value;
  markTypes(inside, tag, parent);
  inside.onTag(tag);
  parent.baseIRI = baseIRI;
}

const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

/** Mark before attribute values that are IRIs: a character that XML documents cannot contain. */
const mark = '\u0000';

/** Marks rdf:type attributes of property elements, which are IRIs (RDF/XML 7.2.21) but which the parser treats as strings. */
function markTypes(inside: Inside, { attributes }: XmlTag, parent: OpenElement): void {
  for (const attribute of Object.values(attributes))
    if (attribute.uri + attribute.local === rdf.type)
      attribute.value = mark + inside.valueToUri(attribute.value, parent).value;
}

function emitMarkedAsIris(inside: Inside, factory: DataFactory<Quad>): void {
  const emit = inside.emitTriple.bind(inside);
  inside.emitTriple = (subject, predicate, object, ...more) =>
    emit(
      subject,
      predicate,
      object.value.startsWith(mark) ? factory.namedNode(object.value.slice(1)) : object,
      ...more,
    );
}

const parseTypes = new Set(['Resource', 'Collection', 'Literal', 'Triple']);
const onNoElement = new Set(['RDF', 'Description', 'li', 'aboutEach', 'aboutEachPrefix', 'bagID']);
const onProperties = new Set(['ID', 'resource', 'nodeID', 'parseType', 'datatype']);

/** Returns the error for an attribute that RDF/XML 7.2.5 or 7.2.11 forbids. Unknown parse types become `Literal` (7.2.20). */
function attributesFault({ attributes }: XmlTag, isProperty: boolean): string | undefined {
  for (const attribute of Object.values(attributes)) {
    const { uri, local, name, value } = attribute;
    if (uri !== rdf.namespace) continue;
    if (
      onNoElement.has(local) ||
      (isProperty ? local === 'about' : local !== 'ID' && local !== 'nodeID' && onProperties.has(local))
    )
      return `The attribute ${name} is not allowed here`;
    if (local === 'parseType' && !parseTypes.has(value)) attribute.value = 'Literal';
  }
  return undefined;
}

/** Opens the document element: rdf:RDF without other attributes, or a single node element (RDF/XML 7.2.8). */
function openDocument(inside: Inside, tag: XmlTag, base: string): void {
  if (tag.uri !== rdf.namespace || tag.local !== 'RDF') {
    // Add an enclosing element, because the parser reads attributes only of nested node elements.
    inside.activeTagStack.push({ childrenParseType: nodeElements, baseIRI: base });
    return;
  }
  const own = Object.values(tag.attributes).find(
    ({ uri, local, prefix }) => uri !== '' && !['xml', 'xmlns', 'its'].includes(prefix) && local !== 'version',
  );
  if (own && own.local !== 'xmlns') throw inside.newParseError(`rdf:RDF has the attribute ${own.name}`);
}

interface XmlAttribute {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  value: string;
}

interface XmlTag {
  readonly name: string;
  readonly prefix: string;
  readonly local: string;
  readonly uri: string;
  readonly attributes: Readonly<Record<string, XmlAttribute>>;
}

const inText: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };
const inValue: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

const isDeclaration = ({ prefix, name }: XmlAttribute): boolean => prefix === 'xmlns' || name === 'xmlns';
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

class XmlLiteral {
  /** Namespaces declared by open elements, by prefix. */
  private readonly declared = new Map<string, string | undefined>([['', '']]);
  /** For each open element, the prefixes that it declares, with their meaning outside the element. */
  private readonly outside: (readonly (readonly [string, string | undefined])[])[] = [];

  static text(text: string): string {
    return text.replace(/[&<>\r]/g, (character) => inText[character]!);
  }

  /** Returns the tags of an element. A namespace is declared at the first use of its prefix. */
  open({ name, prefix, uri, attributes }: XmlTag): { readonly start: string; readonly end: string } {
    const own = Object.values(attributes).filter((attribute) => !isDeclaration(attribute));
    const used = new Map([[prefix, uri], ...own.flatMap((a) => (a.prefix === '' ? [] : [[a.prefix, a.uri] as const]))]);
    const fresh = [...used].filter(([short, iri]) => short !== 'xml' && this.declared.get(short) !== iri);
    this.outside.push(fresh.map(([short]) => [short, this.declared.get(short)]));
    for (const [short, iri] of fresh) this.declared.set(short, iri);
    const written = [
      ...fresh
        .sort(([a], [b]) => byText(a, b))
        .map(([short, iri]) => [short === '' ? 'xmlns' : `xmlns:${short}`, iri] as const),
      ...own
        .sort((a, b) => byText(a.uri, b.uri) || byText(a.local, b.local))
        .map((attribute) => [attribute.name, attribute.value] as const),
    ].map(([key, value]) => ` ${key}="${value.replace(/[&<"\t\n\r]/g, (character) => inValue[character]!)}"`);
    return { start: `<${name}${written.join('')}>`, end: `</${name}>` };
  }

  close(): void {
    for (const [short, iri] of this.outside.pop() ?? []) this.declared.set(short, iri);
  }
}
