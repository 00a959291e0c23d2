/** Decodes quads from the sorted keys that `quad-keys` writes. */
import type { BlankNode, Literal, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { keyOfTriple, spansOf, suffixOfKey, type TermSpan } from './key-layout.js';

const factory = new DataFactory<Quad>();

/** Maximum number of cached key layouts, for all graphs. There are a few for each term length. */
const maxLayouts = 5_000;
const layouts = new Map<string, readonly TermSpan[]>();
type NodeOf = (iri: string) => NamedNode;

/** Returns the positions of the terms of a key, cached by types and lengths. */
export function spansOfKey(key: string): readonly TermSpan[] {
  const suffix = suffixOfKey(key);
  let spans = layouts.get(suffix);
  if (!spans) {
    if (layouts.size >= maxLayouts) layouts.clear();
    spans = spansOf(suffix);
    layouts.set(suffix, spans);
  }
  return spans;
}

/** Decodes GSPO keys. Repeated terms share one object, so that 17 000 triples stay small. */
export function* decodeKeys(keys: Iterable<string>): Generator<Quad> {
  const nodes = new Map<string, NamedNode>();
  const node: NodeOf = (iri) => {
    let found = nodes.get(iri);
    if (!found) {
      found = factory.namedNode(iri);
      nodes.set(iri, found);
    }
    return found;
  };
  // Last term at each position: successive keys share their first terms, which then need no lookup.
  const last: (NamedNode | undefined)[] = [];
  const termAt = (key: string, spans: readonly TermSpan[], at: number): Term => {
    const span = spans[at]!;
    if (span.type !== '0') return readTerm(key, span, node);
    const { from, end } = span;
    const same = last[at];
    if (same && same.value.length === end - from && key.startsWith(same.value, from)) return same;
    const found = node(key.slice(from, end));
    last[at] = found;
    return found;
  };
  for (const key of keys) {
    const spans = spansOfKey(key);
    yield factory.quad(
      termAt(key, spans, 1) as NamedNode | BlankNode,
      termAt(key, spans, 2) as NamedNode,
      termAt(key, spans, 3) as NamedNode | BlankNode | Literal,
      termAt(key, spans, 0) as NamedNode,
    );
  }
}

/** Decodes one term of a key. */
export const termOfKey = (key: string, span: TermSpan): Term => readNode(key, span, namedNode);

const namedNode: NodeOf = (iri) => factory.namedNode(iri);

function readTerm(key: string, { type, textAt, end, qualifierAt, qualifierEnd }: TermSpan, node: NodeOf): Term {
  const value = key.slice(textAt, end);
  if (type === '1') return factory.blankNode(value);
  if (type === '3') return factory.literal(value);
  if (type === '8') return readTriple(keyOfTriple(value), node);
  const qualifier = key.slice(qualifierAt, qualifierEnd);
  if (type === '9') return factory.literal(value, directionalLanguage(qualifier));
  return type === '4' ? factory.literal(value, qualifier) : factory.literal(value, node(qualifier));
}

function readTriple(key: string, node: NodeOf): Quad {
  const [, subject, predicate, object] = spansOfKey(key);
  return factory.quad(
    readNode(key, subject!, node) as NamedNode | BlankNode,
    readNode(key, predicate!, node) as NamedNode,
    readNode(key, object!, node) as NamedNode | BlankNode | Literal | Quad,
  );
}

const readNode = (key: string, span: TermSpan, node: NodeOf): Term =>
  span.type === '0' ? node(key.slice(span.from, span.end)) : readTerm(key, span, node);

/** Splits the qualifier of a literal with a base direction. */
export function directionalLanguage(qualifier: string): {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
} {
  const [language, direction] = qualifier.split('--') as [string, 'ltr' | 'rtl'];
  return { language, direction };
}

/** Returns the triples of a graph from its GSPO keys, in key order. */
export const decodeGraph = (keys: Iterable<string>): Quad[] => [...decodeKeys(keys)];
