/** Writes a graph as JSON-LD 1.1. The context contains only prefixes. */

import type { Literal, Quad, Term } from '@rdfjs/types';
import { compactor, type Prefix, schemeOf } from './compact-iri.js';
import {
  type GraphNode,
  type GraphShape,
  MAX_NESTING,
  nodeLabel,
  shapeOf,
  takeList,
  visitSubjects,
} from './graph-shape.js';
import { UnwritableError } from './unwritable.js';
import { rdf, xsd } from './vocabulary.js';
import type { WriterOptions } from './writer-options.js';

type Json = string | Json[] | { [member: string]: Json };
type Members = { [member: string]: Json };

interface Writing {
  readonly shape: GraphShape;
  /** Shortens an IRI where terms of the context apply: in keys, types and datatypes. */
  readonly name: (iri: string) => string;
}

/**
 * Writes a graph as a JSON-LD 1.1 document with a context of prefixes: one node object, or `@graph` with one per subject.
 * Literals keep their lexical forms as strings. Ignores the graph of the quads.
 * @throws UnwritableError for a triple term
 */
export function writeJsonLd(quads: readonly Quad[], options: WriterOptions): string {
  const prefixes = usablePrefixes(Object.entries(options.prefixes), quads);
  const shape = shapeOf(quads, options.base);
  const writing: Writing = { shape, name: nameWriter(prefixes) };
  const nodes: Members[] = [];
  visitSubjects(
    shape,
    (node) => node.isCell,
    (node) => nodes.push(nodeObject(writing, node)),
  );
  const context: Members = prefixes.length === 0 ? {} : { '@context': Object.fromEntries(prefixes) };
  const document = nodes.length === 1 ? { ...context, ...nodes[0] } : { ...context, '@graph': nodes };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function nodeObject(writing: Writing, node: GraphNode): Members {
  node.written = true;
  const members: Members = { '@id': node.blank ? blankId(writing, node) : node.value };
  const types = node.properties.get(rdf.type);
  if (types !== undefined) addTypes(writing, members, types);
  for (const [predicate, objects] of node.properties) {
    if (objects !== types) members[writing.name(predicate)] = values(writing, objects);
  }
  return members;
}

/** Adds the types of a node. `@type` allows only IRIs and blank nodes: literals and lists are written as property rdf:type. */
function addTypes(writing: Writing, members: Members, objects: readonly Term[]): void {
  const types: string[] = [];
  const others: Term[] = [];
  for (const object of objects) {
    const node = object.termType === 'BlankNode' ? writing.shape.blanks.get(object.value)! : undefined;
    if (object.termType === 'Literal' || object.termType === 'Quad' || node?.isCell) others.push(object);
    else types.push(node === undefined ? writing.name(object.value) : blankId(writing, node));
  }
  if (types.length > 0) members['@type'] = types;
  if (others.length > 0) members[writing.name(rdf.type)] = values(writing, others);
}

function values(writing: Writing, objects: readonly Term[]): Json {
  if (objects.length === 1) return value(writing, objects[0]!, 0);
  return objects.map((object) => value(writing, object, 0));
}

function value(writing: Writing, object: Term, depth: number): Json {
  switch (object.termType) {
    case 'NamedNode':
      return object.value === rdf.nil ? { '@list': [] } : { '@id': object.value };
    case 'Literal':
      return valueObject(writing, object);
    case 'Quad':
      throw new UnwritableError('JSON-LD 1.1 has no triple terms.');
    default:
      return blankValue(writing, writing.shape.blanks.get(object.value)!, depth);
  }
}

function blankValue(writing: Writing, node: GraphNode, depth: number): Json {
  if (node.isCell && !node.written) {
    if (depth < MAX_NESTING) {
      return { '@list': takeList(writing.shape, node).map((item) => value(writing, item, depth + 1)) };
    }
    writing.shape.deferred.push(node);
  }
  return { '@id': blankId(writing, node) };
}

function blankId(writing: Writing, node: GraphNode): string {
  return `_:${nodeLabel(writing.shape, node)}`;
}

/** Returns a value object (JSON-LD 1.1, 4.2). `@json` is not used, because it would change the lexical form of a literal. */
function valueObject(writing: Writing, literal: Literal): Json {
  const { language } = literal;
  if (language !== '') {
    const object: Members = { '@value': literal.value, '@language': language };
    if (literal.direction) object['@direction'] = literal.direction;
    return object;
  }
  const datatype = literal.datatype.value;
  return datatype === xsd.string ? literal.value : { '@value': literal.value, '@type': writing.name(datatype) };
}

/** Matches namespaces that make their term a prefix (JSON-LD 1.1 API, 4.2.2): absolute IRIs that end in a delimiter. */
const PREFIX_NAMESPACE = /^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*[:/?#[\]@]$|^[A-Za-z][A-Za-z0-9+.-]*:$/;

const PREFIX_NAME = /^(?!@|_$)[^:/]+$/;

/** Local part of a compact IRI. It must not start with `//`, which would prevent expansion (JSON-LD 1.1 API, 5.2.2). */
const SUFFIX = /^(?!\/\/)./s;

/**
 * Returns the prefixes that are safe in a context. A prefix named like a used scheme would make full IRIs look compact, and a
 * prefix named like a member of every JavaScript object breaks processors.
 */
function usablePrefixes(prefixes: readonly Prefix[], quads: readonly Quad[]): Prefix[] {
  const candidates = prefixes.filter(
    ([name, namespace]) => PREFIX_NAME.test(name) && PREFIX_NAMESPACE.test(namespace) && !(name in Object.prototype),
  );
  if (candidates.length === 0) return candidates;
  const schemes = new Set(candidates.map(([, namespace]) => schemeOf(namespace)));
  const look = (term: Term): void => {
    if (term.termType === 'NamedNode') schemes.add(term.value.slice(0, Math.max(term.value.indexOf(':'), 0)));
    else if (term.termType === 'Literal') look(term.datatype);
  };
  for (const { subject, predicate, object } of quads) {
    look(subject);
    look(predicate);
    look(object);
  }
  return candidates.filter(([name]) => !schemes.has(name));
}

function nameWriter(prefixes: readonly Prefix[]): (iri: string) => string {
  const names = new Map<string, string>();
  const compact = compactor(prefixes, SUFFIX);
  return (iri) => {
    let name = names.get(iri);
    if (name === undefined) {
      name = compact(iri) ?? iri;
      names.set(iri, name);
    }
    return name;
  };
}
