/**
 * Blank nodes get new labels whenever they enter the storage: the labels of parsers start over with every process, and two documents'
 * `_:b0` would become one node.
 */
import { randomBytes } from 'node:crypto';
import type { Quad, Quad_Object, Quad_Subject, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

const factory = new DataFactory<Quad>();

/** Labels that no other document has, one after the other. */
export function freshLabels(): () => string {
  let document: string | undefined;
  let count = 0;
  return () => {
    document ??= randomBytes(12).toString('hex');
    // Of one width, so that nodes are stored, and sorted before, in the order in which they came.
    return `b${document}x${(count++).toString(36).padStart(4, '0')}`;
  };
}

/**
 * The quads with their blank nodes relabelled, the same label always the same way.
 * @param isKnown labels that are to stay, because they name nodes that are stored already
 */
export function relabel(quads: Iterable<Quad>, isKnown: (label: string) => boolean = () => false): Quad[] {
  return relabeller(isKnown)(quads);
}

/** Relabels a document that comes in parts: the same label always the same way. */
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
