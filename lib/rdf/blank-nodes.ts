/**
 * Relabels blank nodes that enter the storage: parsers restart their labels in every process, so `_:b0` of two documents would
 * become one node.
 */
import { randomBytes } from 'node:crypto';
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

const factory = new DataFactory<Quad>();

/** Generates labels that no other document has. */
export function freshLabels(): () => string {
  let document: string | undefined;
  let count = 0;
  return () => {
    document ??= randomBytes(12).toString('hex');
    // Fixed width, so that label order is the order of appearance.
    return `b${document}x${(count++).toString(36).padStart(4, '0')}`;
  };
}

/**
 * Applies a function to subject and object, also within triple terms.
 * @returns the same quad if nothing changes
 */
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

/** Returns the quads with new blank node labels, the same for equal labels. @param isKnown labels of stored nodes, kept unchanged */
export function relabel(quads: Iterable<Quad>, isKnown: (label: string) => boolean = () => false): Quad[] {
  return relabeller(isKnown)(quads);
}

/** Relabels a document that is processed in parts, consistently across the parts. */
export function relabeller(isKnown: (label: string) => boolean = () => false): (quads: Iterable<Quad>) => Quad[] {
  const labels = new Map<string, Term>();
  const freshLabel = freshLabels();
  const fresh = <T extends Term>(term: T): T => {
    if (term.termType !== 'BlankNode' || isKnown(term.value)) return term;
    let label = labels.get(term.value);
    if (!label) {
      label = factory.blankNode(freshLabel());
      labels.set(term.value, label);
    }
    return label as T;
  };
  return (quads) => {
    const relabelled: Quad[] = [];
    for (const quad of quads) relabelled.push(withNodes(quad, fresh));
    return relabelled;
  };
}
