/** IRIs that begin otherwise in the target than in the source: of terms, of links, of anything. Pure. */
import { createHash } from 'node:crypto';
import type { BlankNode, NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { ClientLinks } from '../../../lib/component/resources.js';
import { assertIriLength, Expansion } from '../../../lib/component/writers.js';
import type { Rewrite } from '../member.js';

/** The function that makes an IRI of the source one of the target: by the first entry that fits. */
export function rewriter(rewrites: readonly Rewrite[]): (iri: string) => string {
  if (rewrites.length === 0) return (iri) => iri;
  return (iri) => {
    const fit = rewrites.find(({ from }) => iri.startsWith(from));
    return fit ? fit.to + iri.slice(fit.from.length) : iri;
  };
}

/** Terms that are remembered, and the characters of the longest of them. */
const [maxTerms, longestTerm] = [50_000, 1_000];

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
  private readonly rewrite: ((iri: string) => string) | undefined;
  /** As `document`, for the nodes that have no label there. */
  private readonly unlabelled: string;
  private count = 0;

  /** @param document 24 hexadecimal digits that no other document has, see `documentKey` */
  constructor(
    rewrites: readonly Rewrite[],
    private readonly document: string,
  ) {
    super();
    this.rewrite = rewrites.length > 0 ? rewriter(rewrites) : undefined;
    this.unlabelled = [...document].reverse().join('');
  }

  /** @throws LwsError `malformed-body` for an IRI that is too long */
  override namedNode<Iri extends string>(value: Iri): NamedNode<Iri> {
    if (value.length > longestTerm) assertIriLength(value);
    // A new object costs less than to look for one that is there.
    if (!this.rewrite) return super.namedNode(value);
    if (value.length > longestTerm) return super.namedNode(this.rewrite(value) as Iri);
    const known = this.nodes.get(value);
    if (known) return known as NamedNode<Iri>;
    const copy = copyOf(value);
    const node = super.namedNode(this.rewrite(copy));
    if (this.nodes.size >= maxTerms) this.nodes.clear();
    this.nodes.set(copy, node);
    return node as NamedNode<Iri>;
  }

  override blankNode(label?: string): BlankNode {
    if (label !== undefined) return super.blankNode(isStored(label) ? label : `b${this.document}x${label}`);
    return super.blankNode(`b${this.unlabelled}x${(this.count++).toString(36).padStart(4, '0')}`);
  }
}

/** The same for syntaxes with prefixes, whose IRIs must stay as they are until they are parts of a triple. */
export class DocumentFactory extends RewritingFactory {
  private readonly move: TermMove | undefined;
  private expansion: Expansion | undefined;

  constructor(rewrites: readonly Rewrite[], document: string) {
    super([], document);
    if (rewrites.length > 0) this.move = termMove(rewrites);
  }

  /** Prefixes and a base can make a short text a lot of long terms. @param length bytes of the text that follows */
  expectTermsOf(length: number): void {
    this.expansion = new Expansion(length, { triples: Number.POSITIVE_INFINITY });
  }

  /** @throws LwsError `too-large` where the terms are much longer than their text */
  override quad(...[subject, predicate, object, graph]: Parameters<DataFactory<Quad>['quad']>): Quad {
    this.expansion?.add({ subject, predicate, object });
    const { move } = this;
    if (!move) return super.quad(subject, predicate, object, graph);
    return super.quad(move(subject), move(predicate), move(object), graph && move(graph));
  }
}

/** Whether the storage makes such labels (`freshLabels`), or has them from another import. */
const isStored = (label: string): boolean => /^b[0-9a-f]{24}x/.test(label);

/** What tells a document from all others, for its blank nodes: the same text imported the same way has the same. */
export function documentKey(start: Uint8Array, ...place: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(place));
  return hash.update(start).digest('hex').slice(0, 24);
}

type TermMove = <T extends Term>(term: T) => T;

/** The function that makes a term of the source one of the target. */
function termMove(rewrites: readonly Rewrite[]): TermMove {
  const rewrite = rewriter(rewrites);
  const factory = new DataFactory<Quad>();
  const nodes = new Map<string, NamedNode>();
  const node = (iri: string): NamedNode => {
    const known = nodes.get(iri);
    if (known) return known;
    const moved = factory.namedNode(rewrite(iri));
    if (nodes.size >= maxTerms) nodes.clear();
    nodes.set(iri, moved);
    return moved;
  };
  return <T extends Term>(term: T): T => {
    if (term.termType === 'NamedNode') return node(term.value) as unknown as T;
    if (term.termType !== 'Literal' || term.language) return term;
    return factory.literal(term.value, node(term.datatype.value)) as unknown as T;
  };
}

/** The same triples elsewhere. */
export function rewriteQuads(quads: readonly Quad[], rewrites: readonly Rewrite[]): readonly Quad[] {
  if (rewrites.length === 0) return quads;
  const factory = new DataFactory<Quad>();
  const move = termMove(rewrites);
  return quads.map(({ subject, predicate, object, graph }) =>
    factory.quad(move(subject), move(predicate), move(object), move(graph)),
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
