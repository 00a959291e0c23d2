/**
 * Relabels blank nodes that enter the storage: parsers restart their labels in every process, so `_:b0` of two documents would
 * become one node.
 */
import { randomBytes } from 'node:crypto';
import type { Quad, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { assertRdf11 } from './bounds.js';

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

/** Returns the quads with new blank node labels, the same for equal labels. @param isKnown labels of stored nodes, kept unchanged */
export function relabel(quads: Iterable<Quad>, isKnown: (label: string) => boolean = () => false): Quad[] {
  return relabeller(isKnown)(quads);
}

/** Relabels a document that is processed in parts, consistently across the parts. */
export function relabeller(isKnown: (label: string) => boolean = () => false): (quads: Iterable<Quad>) => Quad[] {
  const labels = new Map<string, Term>();
  const freshLabel = freshLabels();
  const fresh = <T extends Term>(term: T): T => {
    assertRdf11(term);
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
    for (const quad of quads) {
      const subject = fresh(quad.subject) as Quad_Subject;
      const object = fresh(quad.object) as Quad_Object;
      relabelled.push(
        subject === quad.subject && object === quad.object
          ? quad
          : factory.quad(subject, quad.predicate, object, quad.graph),
      );
    }
    return relabelled;
  };
}
