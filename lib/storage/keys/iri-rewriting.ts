/** Replaces prefixes of IRIs in terms, quads, graph keys, JSON and entries. No other code does this. */
import type { NamedNode, Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { decodeGraph } from './quad-decoding.js';
import { encodeGraph, graphPrefix } from './quad-keys.js';
import { entryKey, partsOfEntry } from './records.js';

const factory = new DataFactory<Quad>();
/** Prefix of the keys of quads: `GSPO` and U+0000. */
const quads = graphPrefix('').slice(0, 5);

/** Returns true if a string is the key of a quad. */
export const isQuad = (key: string): boolean => key.startsWith(quads);

/** IRIs that begin with `from` get the prefix `to`. */
export interface Rewrite {
  readonly from: string;
  readonly to: string;
}

/** Maximum number of cached terms, and maximum length of each. */
const [maxTerms, longestTerm] = [50_000, 1_000];

export class IriRewriting {
  /** Returns the rewritten IRI. Also called with strings that are not IRIs. */
  readonly iri: (iri: string) => string;
  private readonly nodes = new Map<string, NamedNode>();
  private readonly isEmpty: boolean;

  /** @param rewrites rules, of which the first match applies, or a function */
  constructor(rewrites: readonly Rewrite[] | ((iri: string) => string)) {
    this.isEmpty = rewrites.length === 0;
    this.iri = typeof rewrites === 'function' ? rewrites : (iri) => rewritten(iri, rewrites);
  }

  /** Rewrites an IRI, the datatype of a literal, or the IRIs within a triple term. Returns other terms unchanged. */
  term<T extends Term>(term: T): T {
    if (term.termType === 'NamedNode') return this.node(term.value) as Term as T;
    if (term.termType === 'Quad') return this.quads([term as Term as Quad])[0] as Term as T;
    if (term.termType !== 'Literal' || term.language) return term;
    const datatype = this.node(term.datatype.value);
    return datatype.value === term.datatype.value ? term : (factory.literal(term.value, datatype) as Term as T);
  }

  private node(iri: string): NamedNode {
    if (iri.length > longestTerm) return factory.namedNode(this.iri(iri));
    const known = this.nodes.get(iri);
    if (known) return known;
    // Copy the string, because a slice would keep the large source text in memory.
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

  /** Returns the sorted keys of a rewritten graph. */
  graph(keys: readonly string[]): string[] {
    const decoded = decodeGraph(keys);
    const name = decoded[0]?.graph.value;
    return name === undefined ? [] : encodeGraph(this.iri(name), this.quads(decoded));
  }

  /** Rewrites an entry of a feature. @throws SyntaxError for a value that begins like JSON but is not valid */
  entry(key: string, value: string): [key: string, value: string] {
    const [space = '', ...parts] = partsOfEntry(key);
    const isJson = /^[[{"]/.test(value);
    return [
      entryKey(space, ...parts.map((part) => this.iri(part))),
      isJson ? JSON.stringify(this.value(JSON.parse(value))) : this.iri(value),
    ];
  }

  /** Rewrites the strings in a JSON value, including member names. */
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
