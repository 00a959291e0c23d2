/** IRIs that begin otherwise in the target than in the source: of terms, of links, of anything. Pure. */
import { createHash } from 'node:crypto';
import type { BlankNode, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { ClientLinks } from '../../../lib/resources/linkset.js';
import type { Rewrite } from '../member.js';

/** The function that makes an IRI of the source one of the target: by the first entry that fits. */
export function rewriter(rewrites: readonly Rewrite[]): (iri: string) => string {
  if (rewrites.length === 0) return (iri) => iri;
  return (iri) => {
    const fit = rewrites.find(({ from }) => iri.startsWith(from));
    return fit ? fit.to + iri.slice(fit.from.length) : iri;
  };
}

/** Terms that are remembered, and the characters of the longest: the rest are made anew. */
const [mostTerms, longestTerm] = [50_000, 1_000];

/** A copy which does not keep the text alive that the string was cut from. */
const copyOf = (text: string): string => Buffer.from(text).toString();

/**
 * Makes terms of parsers: IRIs as they are in the target, each one object, and blank nodes with labels of the document.
 *
 * Labels which the storage has made are as they were, so that export, import and export give the same bytes. All others get the
 * document's own prefix: `_:b0` of two documents are two nodes, and `_:b0` of two parts of one graph is one.
 */
export class RewritingFactory extends DataFactory<Quad> {
  private readonly nodes = new Map<string, NamedNode>();
  private readonly rewrite: (iri: string) => string;
  /** As `document`, for the nodes that have no label there. */
  private readonly unlabelled: string;
  private count = 0;

  /** @param document 24 hexadecimal digits that no other document has, see `documentKey` */
  constructor(
    rewrites: readonly Rewrite[],
    private readonly document: string,
  ) {
    super();
    this.rewrite = rewriter(rewrites);
    this.unlabelled = [...document].reverse().join('');
  }

  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    const known = this.nodes.get(value);
    if (known) return known as NamedNode<Iri>;
    const copy = copyOf(value);
    const node = super.namedNode(this.rewrite(copy));
    if (value.length <= longestTerm) {
      if (this.nodes.size >= mostTerms) this.nodes.clear();
      this.nodes.set(copy, node);
    }
    return node as NamedNode<Iri>;
  }

  override blankNode(label?: string): BlankNode {
    if (label !== undefined) return super.blankNode(isStored(label) ? label : `b${this.document}x${label}`);
    return super.blankNode(`b${this.unlabelled}x${(this.count++).toString(36).padStart(4, '0')}`);
  }
}

/** Whether the storage makes such labels (`freshLabels`), or has them from another import. */
const isStored = (label: string): boolean => /^b[0-9a-f]{24}x/.test(label);

/** What tells a document from all others, for its blank nodes: the same text imported the same way has the same. */
export function documentKey(start: Uint8Array, ...place: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(place));
  return hash.update(start).digest('hex').slice(0, 24);
}

/** The same terms elsewhere. */
export function rewriteQuads(quads: readonly Quad[], rewrites: readonly Rewrite[]): readonly Quad[] {
  if (rewrites.length === 0) return quads;
  const rewrite = rewriter(rewrites);
  const factory = new DataFactory<Quad>();
  const nodes = new Map<string, NamedNode>();
  const node = (iri: string): NamedNode => {
    const found = nodes.get(iri) ?? factory.namedNode(rewrite(iri));
    nodes.set(iri, found);
    return found;
  };
  const term = <T extends Term>(value: T): T => {
    if (value.termType === 'NamedNode') return node(value.value) as unknown as T;
    if (value.termType !== 'Literal' || value.language) return value;
    return factory.literal(value.value, node(value.datatype.value)) as unknown as T;
  };
  return quads.map(({ subject, predicate, object, graph }) =>
    factory.quad(term(subject), term(predicate), term(object), term(graph)),
  );
}

/** The same links elsewhere: names of relations and targets. */
export function rewriteLinks(links: ClientLinks, rewrites: readonly Rewrite[]): ClientLinks {
  if (rewrites.length === 0) return links;
  const rewrite = rewriter(rewrites);
  const target = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'href' in value && typeof value.href === 'string'
      ? { ...value, href: rewrite(value.href) }
      : value;
  return Object.fromEntries(
    Object.entries(links).map(([name, value]) => [rewrite(name), Array.isArray(value) ? value.map(target) : value]),
  );
}

/** Prefixes of a document whose namespaces lie elsewhere now. */
export function rewritePrefixes(
  prefixes: Readonly<Record<string, string>>,
  rewrites: readonly Rewrite[],
): Readonly<Record<string, string>> {
  if (rewrites.length === 0) return prefixes;
  const rewrite = rewriter(rewrites);
  return Object.fromEntries(Object.entries(prefixes).map(([name, namespace]) => [name, rewrite(namespace)]));
}
