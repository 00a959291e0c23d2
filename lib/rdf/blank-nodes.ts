/** Relabels the blank nodes of documents. Parsers reuse labels, so that `_:b0` of two documents would become one node. */
import { randomBytes } from 'node:crypto';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { getOrMake } from '../tools/collections.js';

const factory = new DataFactory<Quad>();

/** Returns a generator of labels that no other document has. @param document 24 hexadecimal digits, unique. Default: random */
export function freshLabels(document?: string): () => string {
  let key = document;
  let count = 0;
  return () => {
    key ??= randomBytes(12).toString('hex');
    // Fixed width, so that sorting by label keeps the order of appearance.
    return `b${key}x${(count++).toString(36).padStart(4, '0')}`;
  };
}

/** Applies a function to subject and object, also within triple terms. @returns the same quad if nothing changes */
export function withNodes(quad: Quad, change: ChangeTerm): Quad {
  const subject = nodeOf(quad.subject, change);
  const object = nodeOf(quad.object, change);
  return subject === quad.subject && object === quad.object
    ? quad
    : factory.quad(subject, quad.predicate, object, quad.graph);
}

type ChangeTerm = <T extends Term>(term: T) => T;

const nodeOf = <T extends Term>(term: T, change: ChangeTerm): T =>
  term.termType === 'Quad' ? (withNodes(term as unknown as Quad, change) as Term as T) : change(term);

/** Returns the quads with new blank node labels. Equal labels get the same new label. */
export const relabel = (quads: Iterable<Quad>): Quad[] => relabeller()(quads);

/**
 * Returns a function that relabels the parts of one document consistently.
 * @param labelOf returns the new label of a node; called once per label. Default: `freshLabels`
 */
export function relabeller(labelOf: (label: string) => string = freshLabels()): (quads: Iterable<Quad>) => Quad[] {
  const nodes = new Map<string, Term>();
  const newNode = (label: string): Term => factory.blankNode(labelOf(label));
  const change = <T extends Term>(term: T): T => {
    if (term.termType !== 'BlankNode') return term;
    return getOrMake(nodes, term.value, newNode) as T;
  };
  return (quads) => Array.from(quads, (quad) => withNodes(quad, change));
}
