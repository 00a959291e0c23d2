/** Writes a graph as readable Turtle, TriG or N-Triples. */

import type { BlankNode, Literal, Quad, Term } from '@rdfjs/types';
import { compactor, type Prefix, relativizer, withoutFragment } from './compact-iri.js';
import {
  type GraphNode,
  type GraphShape,
  MAX_NESTING,
  nodeLabel,
  shapeOf,
  takeList,
  visitSubjects,
} from './graph-shape.js';
import { bracketed, isBare, isDeclarable, longString, quotedLiteral, shortString, tripleTerm } from './turtle-terms.js';
import { rdf } from './vocabulary.js';
import type { WriterOptions } from './writer-options.js';

interface Writing {
  readonly shape: GraphShape;
  readonly iri: (iri: string) => string;
}

/** Minimum count of objects of a property for which each object is written on its own line. */
const MANY_OBJECTS = 5;

const INDENTATION = '    ';
const PREDICATE_BREAKS = Array.from({ length: MAX_NESTING + 1 }, (_, depth) => `\n${INDENTATION.repeat(depth + 1)}`);
const OBJECT_BREAKS = PREDICATE_BREAKS.map((lineBreak) => `${lineBreak}${INDENTATION}`);
const PREDICATE_END = ` ;${PREDICATE_BREAKS[0]!}`;

/**
 * Writes a graph as Turtle (RDF 1.1 Turtle 2 and 6). Ignores the graph of the quads.
 * @throws UnwritableLiteralError if a language tag is not valid in Turtle
 */
export function writeTurtle(quads: readonly Quad[], options: WriterOptions): string {
  const prefixes = Object.entries(options.prefixes).filter(isDeclarable);
  const shape = shapeOf(quads, options.base);
  const writing: Writing = { shape, iri: iriWriter(options.base, prefixes) };
  let text = '';
  for (const [name, namespace] of prefixes) text += `@prefix ${name}: ${bracketed(namespace)} .\n`;
  visitSubjects(shape, isNested, (node) => {
    text += text === '' ? statement(writing, node) : `\n${statement(writing, node)}`;
  });
  return text;
}

/**
 * Returns functions that measure those parts of the text of `writeTurtle` that do not depend on the rest of the graph, in
 * bytes. They return NaN for a part with a blank node. The differences of changed parts sum up to the difference of the text,
 * unless the graph is empty before or after.
 */
export function turtleSizes({ base, prefixes }: WriterOptions) {
  const iri = iriWriter(base, Object.entries(prefixes).filter(isDeclarable));
  const writing: Writing = { shape: shapeOf([], base), iri };
  // A statement with n predicates has n - 1 predicate ends.
  const aroundStatement = '\n  .\n'.length - PREDICATE_END.length;
  return {
    /** Returns the length of a statement without its properties. */
    subject: (subject: string): number => Buffer.byteLength(iri(subject)) + aroundStatement,
    /** Returns the length of a property with all its objects. @throws UnwritableLiteralError as `writeTurtle` */
    property(predicate: string, objects: readonly Term[]): number {
      if (objects.length === 0) return 0;
      if (objects.some(hasBlankNode)) return Number.NaN;
      const name = predicate === rdf.type ? 'a' : iri(predicate);
      return Buffer.byteLength(name + objectsText(writing, objects, 0) + PREDICATE_END);
    },
  };
}

/**
 * Returns the length of the text of `writeTurtle` in bytes, in half the time; `undefined` for a graph with blank nodes or
 * triple terms.
 * @param quads quads in the order of their GSPO keys, so that quads with the same subject and predicate are adjacent
 * @throws UnwritableLiteralError as `writeTurtle`
 */
export function plainTurtleSize(quads: readonly Quad[], { base, prefixes }: WriterOptions): number | undefined {
  const declared = Object.entries(prefixes).filter(isDeclarable);
  const writing: Writing = { shape: shapeOf([], base), iri: iriWriter(base, declared) };
  /** Text of declarations and terms, and the total length of all text between them. */
  let [text, around] = ['', 0];
  for (const [name, namespace] of declared) text += `@prefix ${name}: ${bracketed(namespace)} .\n`;
  let [subject, predicate, objects]: [string?, string?, number?] = [];
  for (const quad of quads) {
    const { termType } = quad.object;
    if (quad.subject.termType !== 'NamedNode' || (termType !== 'NamedNode' && termType !== 'Literal')) return undefined;
    const begins = quad.subject.value !== subject;
    if (begins || quad.predicate.value !== predicate) {
      around += aroundObjects(objects) + (begins ? (text === '' ? 0 : 1) + '  .\n'.length : PREDICATE_END.length);
      [subject, predicate, objects] = [quad.subject.value, quad.predicate.value, 0];
      if (begins) text += writing.iri(subject);
      text += predicate === rdf.type ? 'a' : writing.iri(predicate);
    }
    objects = objects! + 1;
    text += objectText(writing, quad.object, 0);
  }
  return Buffer.byteLength(text) + around + aroundObjects(objects);
}

/** Returns the length of the text that `objectsText` writes between objects. */
const aroundObjects = (objects = 0): number =>
  objects === 0 ? 0 : objects * (objects < MANY_OBJECTS ? 1 : OBJECT_BREAKS[0]!.length) + objects - 1;

/**
 * Writes a graph as canonical N-Triples (RDF 1.2 N-Triples 4), in input order, with blank nodes renamed to `b0`, `b1`... Ignores
 * the graph of the quads.
 * @throws UnwritableLiteralError if a language tag is not valid in N-Triples
 */
export const writeNTriples = (quads: readonly Quad[]): string => nTriplesWriter()(quads);

/**
 * Returns a function that writes a document in parts. The parts are also valid Turtle and TriG. A blank node has the same label
 * in all parts.
 * @param keepsLabels true to keep the labels of blank nodes
 */
export function nTriplesWriter(keepsLabels = false): (quads: readonly Quad[]) => string {
  const labels = new Map<string, string>();
  const term = (value: Term): string => {
    if (value.termType === 'NamedNode') return bracketed(value.value);
    if (value.termType === 'Literal') return quotedLiteral(value, shortString, bracketed);
    if (value.termType === 'Quad') return tripleTerm(value, term);
    if (keepsLabels) return `_:${value.value}`;
    const label = labels.get(value.value) ?? `_:b${labels.size}`;
    labels.set(value.value, label);
    return label;
  };
  return (quads) => {
    let text = '';
    for (const quad of quads) text += `${term(quad.subject)} ${term(quad.predicate)} ${term(quad.object)} .\n`;
    return text;
  };
}

function isNested(node: GraphNode): boolean {
  return node.blank && node.references === 1;
}

function statement(writing: Writing, node: GraphNode): string {
  node.written = true;
  return `${subjectText(writing, node)} ${propertiesText(writing, node, 0)} .\n`;
}

function subjectText(writing: Writing, node: GraphNode): string {
  if (!node.blank) return writing.iri(node.value);
  return node.references === 0 ? '[]' : `_:${nodeLabel(writing.shape, node)}`;
}

function propertiesText(writing: Writing, node: GraphNode, depth: number): string {
  const { properties } = node;
  const types = properties.get(rdf.type);
  let text = types === undefined ? '' : `a${objectsText(writing, types, depth)}`;
  for (const [predicate, objects] of properties) {
    if (objects === types) continue;
    if (text !== '') text += ` ;${PREDICATE_BREAKS[depth]!}`;
    text += writing.iri(predicate) + objectsText(writing, objects, depth);
  }
  return text;
}

function objectsText(writing: Writing, objects: readonly Term[], depth: number): string {
  const before = objects.length < MANY_OBJECTS ? ' ' : OBJECT_BREAKS[depth]!;
  let text = before + objectText(writing, objects[0]!, depth);
  for (let i = 1; i < objects.length; i++) text += `,${before}${objectText(writing, objects[i]!, depth)}`;
  return text;
}

function objectText(writing: Writing, object: Term, depth: number): string {
  switch (object.termType) {
    case 'NamedNode':
      return object.value === rdf.nil ? '()' : writing.iri(object.value);
    case 'Literal':
      return literalText(writing, object);
    case 'Quad':
      return tripleTerm(object, (term) => termText(writing, term));
    default:
      return blankText(writing, object as BlankNode, depth);
  }
}

/** Returns the text of a term in a triple term. The grammar allows no lists there (RDF 1.2 Turtle 6.5). */
const termText = (writing: Writing, term: Term): string =>
  term.termType === 'NamedNode' ? writing.iri(term.value) : objectText(writing, term, MAX_NESTING);

const hasBlankNode = (term: Term): boolean =>
  term.termType === 'Quad' ? hasBlankNode(term.subject) || hasBlankNode(term.object) : term.termType === 'BlankNode';

function literalText(writing: Writing, literal: Literal): string {
  const { value } = literal;
  if (literal.language === '' && isBare(value, literal.datatype.value)) return value;
  return quotedLiteral(literal, value.includes('\n') ? longString : shortString, writing.iri);
}

function blankText(writing: Writing, term: BlankNode, depth: number): string {
  const node = writing.shape.blanks.get(term.value)!;
  if (node.references === 1 && node.properties.size === 0) return '[]';
  if (!isNested(node) || node.written || depth === MAX_NESTING) {
    if (isNested(node) && !node.written) writing.shape.deferred.push(node);
    return `_:${nodeLabel(writing.shape, node)}`;
  }
  if (node.isCell) {
    let text = '(';
    for (const item of takeList(writing.shape, node)) text += ` ${objectText(writing, item, depth + 1)}`;
    return `${text} )`;
  }
  node.written = true;
  return `[ ${propertiesText(writing, node, depth + 1)} ]`;
}

/** Local names that all parsers and readers understand: a small subset of PN_LOCAL. */
const LOCAL_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$/;

function iriWriter(base: string, prefixes: readonly Prefix[]): (iri: string) => string {
  const written = new Map<string, string>();
  const compact = compactor(prefixes, LOCAL_NAME);
  const relative = relativizer(base);
  const { length } = withoutFragment(base);
  const write = (iri: string): string => {
    // Prefer `<>` over a prefixed name for the IRI of the document.
    if (iri.length === length && relative(iri) === '') return '<>';
    const name = compact(iri);
    if (name !== undefined) return name;
    const reference = relative(iri);
    return reference === undefined ? bracketed(iri) : `<${reference}>`;
  };
  return (iri) => {
    let text = written.get(iri);
    if (text === undefined) {
      text = write(iri);
      written.set(iri, text);
    }
    return text;
  };
}
