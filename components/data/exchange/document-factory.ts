/** Creates terms for parsers. IRIs are rewritten for the target, and blank node labels are unique to the document. */
import { createHash } from 'node:crypto';
import type { BlankNode, NamedNode, Quad, Quad_Graph, Quad_Subject } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { freshLabels } from '../../../lib/rdf/blank-nodes.js';
import { assertIriLength, assertTripleDepth, Expansion } from '../../../lib/rdf/bounds.js';
import { IriRewriting, type Rewrite } from '../../../lib/storage/keys/iri-rewriting.js';

/**
 * Keeps labels made by the storage, so that export, import and export produce the same bytes. All other labels get a prefix of
 * the document: `_:b0` in two documents is two nodes, and `_:b0` in two parts of one graph is one node.
 */
export class DocumentFactory extends DataFactory<Quad> {
  private readonly rewriting: IriRewriting | undefined;
  /** Returns a label for a blank node that has no label in the document. */
  private readonly freshLabel: () => string;
  private expansion: Expansion | undefined;
  private subject: { readonly from: Quad_Subject; readonly to: Quad_Subject } | undefined;
  private graph: { readonly from: Quad_Graph; readonly to: Quad_Graph } | undefined;

  /** @param document 24 hexadecimal digits unique to the document, see `documentKey` */
  constructor(
    rewrites: readonly Rewrite[],
    private readonly document: string,
  ) {
    super();
    this.rewriting = rewrites.length > 0 ? new IriRewriting(rewrites) : undefined;
    this.freshLabel = freshLabels([...document].reverse().join(''));
  }

  /**
   * Limits the total length of the terms by the length of the text: with prefixes and a base, a short text can have many long
   * terms.
   * @param length bytes of the text
   */
  expectTermsOf(length: number): void {
    this.expansion = new Expansion(length, { triples: Number.POSITIVE_INFINITY });
  }

  /** Creates an IRI term. @throws LwsError `malformed-body` if the IRI is too long */
  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    assertIriLength(value);
    return super.namedNode(value);
  }

  override blankNode(label?: string): BlankNode {
    if (label !== undefined) return super.blankNode(isStoredLabel(label) ? label : `b${this.document}x${label}`);
    return super.blankNode(this.freshLabel());
  }

  /**
   * Makes a quad with rewritten IRIs. Rewriting is done only here: parsers also make terms of prefixes, which must not be
   * rewritten.
   * @throws LwsError `too-large` if the terms are much longer than their text
   */
  override quad(...[subject, predicate, object, graph]: Parameters<DataFactory<Quad>['quad']>): Quad {
    this.expansion?.add({ subject, predicate, object });
    assertTripleDepth(object);
    const { rewriting } = this;
    if (!rewriting) return super.quad(subject, predicate, object, graph);
    // Cache the rewritten subject and graph, which successive quads usually share.
    if (this.subject?.from !== subject) this.subject = { from: subject, to: rewriting.term(subject) };
    if (graph && this.graph?.from !== graph) this.graph = { from: graph, to: rewriting.term(graph) };
    // The terms of a triple term were rewritten when the triple term was made.
    const own = object.termType === 'Quad' ? object : rewriting.term(object);
    return super.quad(this.subject.to, rewriting.term(predicate), own, graph && this.graph?.to);
  }
}

/** Returns true if a label has the form that the storage gives to new (`freshLabels`) and imported blank nodes. */
export const isStoredLabel = (label: string): boolean => /^b[0-9a-f]{24}x/.test(label);

/** Returns a key for the blank node labels of a document. The same text imported to the same location gets the same key. */
export function documentKey(start: Uint8Array, ...place: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(place));
  return hash.update(start).digest('hex').slice(0, 24);
}
