/** Writes a graph as RDF/XML, one element per subject. */

import type { BaseQuad, Literal, Quad, Term } from '@rdfjs/types';
import { getOrMake } from '../tools/collections.js';
import { compactor, type Prefix, schemeOf } from './compact-iri.js';
import { type GraphNode, type GraphShape, nodeLabel, shapeOf } from './graph-shape.js';
import { UnwritableError, UnwritableLiteralError, UnwritablePredicateError } from './unwritable.js';
import { nameCharacters, rdf, xsd } from './vocabulary.js';
import type { WriterOptions } from './writer-options.js';

export { UnwritableError, UnwritableLiteralError, UnwritablePredicateError };

interface Writing {
  readonly shape: GraphShape;
  readonly names: Names;
  /** Prefix of the RDF namespace. */
  readonly syntax: string;
  /** True after a literal with base direction was written, which requires the ITS namespace. */
  directed: boolean;
  /** True after a term of RDF 1.2 was written, which requires the version attribute. */
  isNew: boolean;
}

interface Names {
  /** Prefixes that the root element declares: given prefixes, and prefixes that predicates require. */
  readonly declared: Map<string, string>;
  readonly byNamespace: Map<string, string>;
  readonly byPredicate: Map<string, string>;
  readonly compact: (iri: string) => string | undefined;
  /** Counter for generated prefixes `ns1`, `ns2`... */
  next: number;
}

const XML = 'http://www.w3.org/XML/1998/namespace';
const XMLNS = 'http://www.w3.org/2000/xmlns/';
const ITS = 'http://www.w3.org/2005/11/its';

/**
 * Writes a graph as RDF/XML (RDF 1.1 XML Syntax 2 and 7). Ignores the graph of the quads.
 * @throws UnwritablePredicateError if a predicate does not end in an XML name, or belongs to the RDF/XML syntax
 * @throws UnwritableLiteralError if a literal contains a character excluded by XML 1.0
 * @throws UnwritableError if an IRI contains such a character
 */
export function writeRdfXml(quads: readonly Quad[], options: WriterOptions): string {
  const names = newNames(Object.entries(options.prefixes).filter(isDeclarable));
  const syntax = names.byNamespace.get(rdf.namespace)!;
  const writing: Writing = { shape: shapeOf(quads, options.base), names, syntax, directed: false, isNew: false };
  let body = '';
  for (const node of writing.shape.subjects) body += nodeElement(writing, node);
  let start = `<?xml version="1.0" encoding="UTF-8"?>\n<${syntax}:RDF`;
  if (writing.isNew) start += ` ${syntax}:version="1.2"`;
  if (writing.directed) start += ` ${prefixFor(names, ITS)}:version="2.0"`;
  for (const [name, namespace] of names.declared) start += `\n    xmlns:${name}="${attributeText(namespace)}"`;
  return `${start}>\n${body}</${syntax}:RDF>\n`;
}

// --- Elements (RDF 1.1 XML Syntax 7.2) ---

function nodeElement(writing: Writing, node: GraphNode): string {
  const { syntax } = writing;
  const subject = node.blank ? `nodeID="${nodeLabel(writing.shape, node)}"` : `about="${attributeText(node.value)}"`;
  let text = `  <${syntax}:Description ${syntax}:${subject}>\n`;
  for (const [predicate, objects] of node.properties) {
    const name = qualifiedName(writing.names, predicate);
    for (const object of objects) text += `    ${propertyElement(writing, name, object)}\n`;
  }
  return `${text}  </${syntax}:Description>\n`;
}

function propertyElement(writing: Writing, name: string, object: Term): string {
  switch (object.termType) {
    case 'NamedNode':
      return `<${name} ${writing.syntax}:resource="${attributeText(object.value)}"/>`;
    case 'Literal':
      return `<${name}${literalAttributes(writing, object)}>${literalText(object)}</${name}>`;
    case 'Quad':
      return `<${name} ${writing.syntax}:parseType="Triple">${tripleElement(writing, object)}</${name}>`;
    default: {
      const label = nodeLabel(writing.shape, writing.shape.blanks.get(object.value)!);
      return `<${name} ${writing.syntax}:nodeID="${label}"/>`;
    }
  }
}

/** Returns the triple of a triple term: a node element with one property (RDF 1.2 XML Syntax 2.19). */
function tripleElement(writing: Writing, { subject, predicate, object }: BaseQuad): string {
  const { syntax, shape, names } = writing;
  writing.isNew = true;
  const about =
    subject.termType === 'BlankNode'
      ? `nodeID="${nodeLabel(shape, shape.blanks.get(subject.value)!)}"`
      : `about="${attributeText(subject.value)}"`;
  const property = propertyElement(writing, qualifiedName(names, predicate.value), object);
  return `<${syntax}:Description ${syntax}:${about}>${property}</${syntax}:Description>`;
}

function literalAttributes(writing: Writing, literal: Literal): string {
  if (literal.language !== '') {
    const language = ` xml:lang="${attributeText(literal.language)}"`;
    if (!literal.direction) return language;
    writing.directed = true;
    writing.isNew = true;
    return `${language} ${prefixFor(writing.names, ITS)}:dir="${literal.direction}"`;
  }
  const datatype = literal.datatype.value;
  return datatype === xsd.string ? '' : ` ${writing.syntax}:datatype="${attributeText(datatype)}"`;
}

// --- Names (RDF 1.1 XML Syntax 5.1 and 6.1.4, Namespaces in XML 1.0 2 and 3) ---

const { letters, inner } = nameCharacters;
const NAME = new RegExp(`^[_${letters}][.${inner}]*$`, 'u');
const NAME_START_CHARACTER = new RegExp(`^[_${letters}]$`, 'u');
const NAME_CHARACTER = new RegExp(`^[.${inner}]$`, 'u');

/** IRIs that are not allowed as property elements, or have a special meaning (RDF 1.1 XML Syntax 5.1). */
const SYNTAX_NAMES = new Set(
  'RDF ID about parseType resource nodeID datatype Description li aboutEach aboutEachPrefix bagID'
    .split(' ')
    .map((name) => rdf.namespace + name),
);

function isDeclarable([name, namespace]: Prefix): boolean {
  return (
    NAME.test(name) &&
    !/^xml/i.test(name) &&
    schemeOf(namespace) !== undefined &&
    isNamespace(namespace) &&
    !/\s/.test(namespace) &&
    !NOT_IN_XML.test(namespace)
  );
}

function isNamespace(iri: string): boolean {
  return iri !== '' && iri !== XML && iri !== XMLNS;
}

function newNames(prefixes: readonly Prefix[]): Names {
  const others = prefixes.filter(([name, namespace]) => name !== 'rdf' || namespace === rdf.namespace);
  const names: Names = {
    declared: new Map(others),
    byNamespace: new Map(others.map(([name, namespace]) => [namespace, name])),
    byPredicate: new Map(),
    compact: compactor(others, NAME),
    next: 1,
  };
  if (!names.byNamespace.has(rdf.namespace)) declare(names, 'rdf', rdf.namespace);
  return names;
}

function declare(names: Names, name: string, namespace: string): void {
  names.declared.set(name, namespace);
  names.byNamespace.set(namespace, name);
}

function prefixFor(names: Names, namespace: string): string {
  const known = names.byNamespace.get(namespace);
  if (known !== undefined) return known;
  while (names.declared.has(`ns${names.next}`)) names.next++;
  const name = `ns${names.next}`;
  declare(names, name, namespace);
  return name;
}

const qualifiedName = (names: Names, predicate: string): string =>
  getOrMake(names.byPredicate, predicate, () => {
    if (SYNTAX_NAMES.has(predicate)) throw new UnwritablePredicateError(predicate);
    return names.compact(predicate) ?? splitName(names, predicate);
  });

function splitName(names: Names, predicate: string): string {
  const start = startOfName(predicate);
  const namespace = predicate.slice(0, start);
  if (start === predicate.length || !isNamespace(namespace)) throw new UnwritablePredicateError(predicate);
  return `${prefixFor(names, namespace)}:${predicate.slice(start)}`;
}

/** Returns the start of the longest XML name at the end of an IRI. Reads backwards: a pattern would take quadratic time. */
function startOfName(iri: string): number {
  let start = iri.length;
  let end = iri.length;
  while (end > 0) {
    const pair = end > 1 && iri.codePointAt(end - 2)! > 0xffff;
    const character = iri.slice(pair ? end - 2 : end - 1, end);
    if (!NAME_CHARACTER.test(character)) break;
    end -= character.length;
    if (NAME_START_CHARACTER.test(character)) start = end;
  }
  return start;
}

// --- Text (XML 1.0 2.2, 2.4, 2.11 and 3.3.3) ---

const NOT_IN_XML = /[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF\uD800-\uDFFF]/u;

const NOT_IN_TEXT = /[&<>\r]/;
const ALL_NOT_IN_TEXT = new RegExp(NOT_IN_TEXT, 'g');
const NOT_IN_ATTRIBUTE = /[&<>"\t\n\r]/;
const ALL_NOT_IN_ATTRIBUTE = new RegExp(NOT_IN_ATTRIBUTE, 'g');

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

/** Escapes an attribute value, including line breaks and tabs, which parsers convert to spaces. */
function attributeText(value: string): string {
  if (NOT_IN_XML.test(value))
    throw new UnwritableError(`XML cannot represent a character of ${JSON.stringify(value)}.`);
  return NOT_IN_ATTRIBUTE.test(value) ? value.replace(ALL_NOT_IN_ATTRIBUTE, escaped) : value;
}

/** Escapes a text, including carriage returns, which parsers convert to line feeds. */
function literalText({ value }: Literal): string {
  if (NOT_IN_XML.test(value)) throw new UnwritableLiteralError(value, 'XML cannot represent one of its characters');
  return NOT_IN_TEXT.test(value) ? value.replace(ALL_NOT_IN_TEXT, escaped) : value;
}

function escaped(character: string): string {
  return ESCAPES[character]!;
}
