/** Replaces the beginning of IRIs in terms, quads, keys of graphs, JSON and entries; the only code that does. Pure. */
import type { NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { decodeGraph } from './quad-decoding.js';
import { encodeGraph, graphPrefix } from './quad-keys.js';
import { entryKey, partsOfEntry } from './records.js';

const factory = new DataFactory<Quad>();
/** `GSPO` and U+0000. */
const quads = graphPrefix('').slice(0, 5);

/** Whether a key, or a string, is the key of a quad. */
export const isQuad = (key: string): boolean => key.startsWith(quads);

/** IRIs that begin with `from` begin with `to` instead. */
export interface Rewrite {
  readonly from: string;
  readonly to: string;
}

/** Terms that are remembered, and the characters of the longest of them. */
const [maxTerms, longestTerm] = [50_000, 1_000];

export class IriRewriting {
  /** Gives the new text of an IRI. It is also called with texts that are no IRIs. */
  readonly iri: (iri: string) => string;
  private readonly nodes = new Map<string, NamedNode>();
  private readonly isEmpty: boolean;

  /** @param rewrites of which the first that fits is taken, or a function in their place */
  constructor(rewrites: readonly Rewrite[] | ((iri: string) => string)) {
    this.isEmpty = rewrites.length === 0;
    this.iri = typeof rewrites === 'function' ? rewrites : (iri) => rewritten(iri, rewrites);
  }

  /** Rewrites an IRI, or the datatype of a literal; other terms stay. */
  term<T extends Term>(term: T): T {
    if (term.termType === 'NamedNode') return this.node(term.value) as Term as T;
    if (term.termType !== 'Literal' || term.language) return term;
    const datatype = this.node(term.datatype.value);
    return datatype.value === term.datatype.value ? term : (factory.literal(term.value, datatype) as Term as T);
  }

  private node(iri: string): NamedNode {
    if (iri.length > longestTerm) return factory.namedNode(this.iri(iri));
    const known = this.nodes.get(iri);
    if (known) return known;
    // A copy: a slice would keep the large text that it was cut from in memory.
    const copy = Buffer.from(iri).toString();
    const node = factory.namedNode(this.iri(copy));
    if (this.nodes.size >= maxTerms) this.nodes.clear();
    this.nodes.set(copy, node);
    return node;
  }

  quads(all: readonly Quad[]): readonly Quad[] {
    if (this.isEmpty) return all;
    return all.map(({ subject, predicate, object, graph }) =>
      factory.quad(this.term(subject), this.term(predicate), this.term(object), this.term(graph)),
    );
  }

  /** The keys of a rewritten graph, sorted. */
  graph(keys: readonly string[]): string[] {
    const decoded = decodeGraph(keys);
    const name = decoded[0]?.graph.value;
    return name === undefined ? [] : encodeGraph(this.iri(name), this.quads(decoded));
  }

  /** An entry of a feature. @throws SyntaxError for a value that begins as JSON does and is none */
  entry(key: string, value: string): [key: string, value: string] {
    const [space = '', ...parts] = partsOfEntry(key);
    const isJson = /^[[{"]/.test(value);
    return [
      entryKey(space, ...parts.map((part) => this.iri(part))),
      isJson ? JSON.stringify(this.value(JSON.parse(value))) : this.iri(value),
    ];
  }

  /** Rewrites the strings in a JSON value, names of members included. */
  value<T>(value: T): T;
  value(value: unknown): unknown {
    if (this.isEmpty) return value;
    if (typeof value === 'string') return isQuad(value) ? this.graph([value])[0] : this.iri(value);
    if (Array.isArray(value)) return value.map((each: unknown) => this.value(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [this.iri(name), this.value(each)]));
  }
}

function rewritten(iri: string, rewrites: readonly Rewrite[]): string {
  const fit = rewrites.find(({ from }) => iri.startsWith(from));
  return fit ? fit.to + iri.slice(fit.from.length) : iri;
}
