/** Terms that parsers make: IRIs as they are in the target, and blank nodes with labels of the document. */
import { createHash } from 'node:crypto';
import type { BlankNode, NamedNode, Quad, Quad_Graph, Quad_Subject } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { assertIriLength, Expansion } from '../rdf/bounds.js';
import { IriRewriting, type Rewrite } from '../storage/state/iri-rewriting.js';

/**
 * Labels which the storage has made are as they were, so that export, import and export give the same bytes. All others get the
 * document's own prefix: `_:b0` of two documents are two nodes, and `_:b0` of two parts of one graph is one.
 */
export class DocumentFactory extends DataFactory<Quad> {
  private readonly rewriting: IriRewriting | undefined;
  /** As `document`, for the nodes that have no label there. */
  private readonly unlabelled: string;
  private count = 0;
  private expansion: Expansion | undefined;
  private subject: { readonly from: Quad_Subject; readonly to: Quad_Subject } | undefined;
  private graph: { readonly from: Quad_Graph; readonly to: Quad_Graph } | undefined;

  /** @param document 24 hexadecimal digits that no other document has, see `documentKey` */
  constructor(
    rewrites: readonly Rewrite[],
    private readonly document: string,
  ) {
    super();
    this.rewriting = rewrites.length > 0 ? new IriRewriting(rewrites) : undefined;
    this.unlabelled = [...document].reverse().join('');
  }

  /** Prefixes and a base can make a short text a lot of long terms. @param length bytes of the text that follows */
  expectTermsOf(length: number): void {
    this.expansion = new Expansion(length, { triples: Number.POSITIVE_INFINITY });
  }

  /** @throws LwsError `malformed-body` for an IRI that is too long */
  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    assertIriLength(value);
    return super.namedNode(value);
  }

  override blankNode(label?: string): BlankNode {
    if (label !== undefined) return super.blankNode(isStored(label) ? label : `b${this.document}x${label}`);
    return super.blankNode(`b${this.unlabelled}x${(this.count++).toString(36).padStart(4, '0')}`);
  }

  /**
   * IRIs are moved only here: prefixes must stay as they are until they are parts of a triple.
   * @throws LwsError `too-large` where the terms are much longer than their text
   */
  override quad(...[subject, predicate, object, graph]: Parameters<DataFactory<Quad>['quad']>): Quad {
    this.expansion?.add({ subject, predicate, object });
    const { rewriting } = this;
    if (!rewriting) return super.quad(subject, predicate, object, graph);
    // Neighbours share them.
    if (this.subject?.from !== subject) this.subject = { from: subject, to: rewriting.term(subject) };
    if (graph && this.graph?.from !== graph) this.graph = { from: graph, to: rewriting.term(graph) };
    return super.quad(this.subject.to, rewriting.term(predicate), rewriting.term(object), graph && this.graph?.to);
  }
}

/** Whether the storage makes such labels (`freshLabels`), or has them from another import. */
const isStored = (label: string): boolean => /^b[0-9a-f]{24}x/.test(label);

/** What tells a document from all others, for its blank nodes: the same text imported the same way has the same. */
export function documentKey(start: Uint8Array, ...place: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(place));
  return hash.update(start).digest('hex').slice(0, 24);
}
