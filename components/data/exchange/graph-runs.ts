/** Joins successive quads of a graph into a part of a resource. Quads of graphs that cannot be resources are skipped and counted. */
import type { Quad, Term } from '@rdfjs/types';
import type { GraphMember, LeftOut } from '../../../lib/exchange/member.js';

/** Maximum number of triples in a part, and maximum length of their text in bytes (or of their terms in characters). */
const [maxQuads, maxSize] = [10_000, 8 << 20];

/** Maximum number of graphs and origins listed individually in the report. */
const maxNamed = 100;

/** Count of the triples that were skipped for one reason, and position of the first triple. */
type Count = [triples: number, source: string];

/** Counts of skipped triples by reason, small enough for a cursor. */
export class LeftOuts {
  private readonly counts: Map<string, Count>;
  private text: string | undefined;

  constructor(cursor = '[]') {
    this.counts = new Map(JSON.parse(cursor) as [string, Count][]);
  }

  add(reason: string, triples: number, source: string): void {
    const key = this.counts.has(reason) || this.counts.size < maxNamed ? reason : reason.slice(0, 2);
    const [before, first] = this.counts.get(key) ?? [0, source];
    this.counts.set(key, [before + triples, first]);
    this.text = undefined;
  }

  toString(): string {
    this.text ??= JSON.stringify([...this.counts]);
    return this.text;
  }

  /** Returns one entry per reason. */
  members(into: string): LeftOut[] {
    return [...this.counts].map(([reason, [count, source]]) => ({
      kind: 'left-out',
      source,
      why: sentence(reason, `${count} ${count === 1 ? 'triple' : 'triples'}`, into),
    }));
  }
}

/**
 * Prefixes of reasons. A reason is a prefix, followed by the graph or its origin. After `maxNamed` reasons, further triples are
 * counted under a prefix alone.
 */
const [noGraph, blankGraph, container, noPath, outside] = ['d:', 'b:', 'c:', 'f:', 'o:'] as const;

function sentence(reason: string, triples: string, into: string): string {
  const what = reason.slice(2);
  switch (reason.slice(0, 2)) {
    case noGraph:
      return `${triples} in no named graph, so that their resource is unknown.`;
    case blankGraph:
      return `${triples} in graphs without an IRI.`;
    case container:
      return `${triples} about ${what || 'further containers'}: the server manages the triples of containers.`;
    case noPath:
      return `${triples} in ${what || 'further graphs'}: resource IRIs have no query or fragment.`;
    default:
      return what
        ? `${triples} in graphs below ${what}, outside of ${into}. To import them, use --rewrite ${what}=${into}.`
        : `${triples} in graphs below further origins, outside of ${into}.`;
  }
}

/** Returns the resource path of a graph, or the reason why it cannot be a resource. */
function placeOf(graph: Term, into: string): { readonly path: string } | { readonly reason: string } {
  if (graph.termType === 'DefaultGraph') return { reason: noGraph };
  if (graph.termType !== 'NamedNode') return { reason: blankGraph };
  const iri = graph.value;
  if (!iri.startsWith(into)) return { reason: outside + originOf(iri) };
  if (/[?#]/.test(iri)) return { reason: noPath + iri.slice(0, 1_000) };
  return iri.endsWith('/') ? { reason: container + iri.slice(0, 1_000) } : { path: iri.slice(into.length) };
}

const originOf = (iri: string): string =>
  (/^[^:/?#]+:\/\/[^/?#]*\/?/.exec(iri)?.[0] ?? /^[^:]*:/.exec(iri)?.[0] ?? '').slice(0, 200);

/** Position of a quad: its line for messages, and the count of bytes or characters before the quad. */
export interface RunPlace {
  readonly source: string;
  readonly size: number;
}

/** Joins quads into parts, in their order of arrival. */
export class GraphRun {
  private graph: Term | undefined;
  private place: ReturnType<typeof placeOf> | undefined;
  private quads: Quad[] = [];
  private skipped = 0;
  private source = '';
  private start = 0;

  constructor(
    private readonly into: string,
    readonly leftOut: LeftOuts,
  ) {}

  /** Returns true if the quad begins another part. */
  isOver({ graph }: Quad, size: number): boolean {
    if (this.graph === undefined) return false;
    if (graph !== this.graph && !graph.equals(this.graph)) return true;
    return this.quads.length >= maxQuads || (this.quads.length > 0 && size - this.start > maxSize);
  }

  /** Adds a quad to the part. @param start returns the position of a part's first quad */
  add(quad: Quad, start: () => RunPlace): void {
    if (this.graph === undefined) {
      this.graph = quad.graph;
      this.place = placeOf(quad.graph, this.into);
      ({ source: this.source, size: this.start } = start());
    }
    if (this.place && 'path' in this.place) this.quads.push(quad);
    else this.skipped++;
  }

  /** Returns the finished part, or `undefined` if there is none or it is skipped. @param next the quad after the part */
  take(next?: Quad): GraphMember | undefined {
    const { graph, place, quads, source } = this;
    if (graph === undefined || place === undefined) return undefined;
    this.graph = undefined;
    this.quads = [];
    if ('reason' in place) {
      this.leftOut.add(place.reason, this.skipped, source);
      this.skipped = 0;
      return undefined;
    }
    const hasMore = next?.graph.equals(graph) === true;
    return { kind: 'rdf', path: place.path, source, quads, prefixes: {}, ...(hasMore ? { hasMore } : {}) };
  }
}
