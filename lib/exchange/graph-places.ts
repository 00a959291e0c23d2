/** Where the graphs of one file go: one graph to a resource of the file's name, several to a container with a resource for each. Pure. */
import type { Term } from '@rdfjs/types';
import { IriRewriting, type Rewrite } from '../storage/state/iri-rewriting.js';
import { isAuxiliary, nameOfSegment, segmentOf } from './file-names.js';
import { SyntaxFault } from './member.js';

/** The most graphs of a file: their names are in memory. */
const maxGraphs = 100_000;

export interface GraphPlace {
  /** The segment of its IRI in the container that the file becomes; `undefined`: the file has one graph, and is the resource. */
  readonly name: string | undefined;
  /** The IRIs of the graph in the file; empty where it had none. */
  readonly oldNames: readonly string[];
}

/** Gives places to graphs in the order of the file: the same file gives the same places each time. */
export class GraphPlaces {
  private readonly places = new Map<string, { name: string; oldNames: string[] }>();
  private readonly known = new Set<string>();
  private readonly taken = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly rewrite: (iri: string) => string;
  private last: Term | undefined;

  /** @param file the path of the file, for messages */
  constructor(
    private readonly file: string,
    rewrites: readonly Rewrite[],
  ) {
    this.rewrite = new IriRewriting(rewrites).iri;
  }

  /** @param graph with the name that the file says @throws SyntaxFault where there are too many */
  add(graph: Term): void {
    if (this.last?.equals(graph)) return;
    this.last = graph;
    const old = `${graph.termType} ${graph.value}`;
    if (this.known.has(old)) return;
    this.known.add(old);
    if (this.known.size > maxGraphs)
      throw new SyntaxFault(
        `${this.file}: It has more than ${maxGraphs} graphs. By itself, as a dump, such a file can be imported.`,
      );
    const oldNames = graph.termType === 'NamedNode' ? [graph.value] : [];
    const key = this.keyOf(graph.termType, this.rewrite(graph.value));
    const place = this.places.get(key);
    if (place) place.oldNames.push(...oldNames);
    else this.places.set(key, { name: this.freeName(graph), oldNames });
  }

  /** @param graph with the name that it has after rewriting */
  of(graph: Term): GraphPlace | undefined {
    const place = this.places.get(this.keyOf(graph.termType, graph.value));
    return place && this.places.size === 1 ? { ...place, name: undefined } : place;
  }

  private keyOf(type: string, value: string): string {
    return `${type} ${value}`;
  }

  private freeName(graph: Term): string {
    const wanted = nameOfGraph(graph);
    let name = wanted;
    while (this.taken.has(name)) {
      const count = (this.counts.get(wanted) ?? 1) + 1;
      this.counts.set(wanted, count);
      name = `${wanted}-${count}`;
    }
    this.taken.add(name);
    return name;
  }
}

/** The last part of an IRI that is not empty: `prov` of `http://www.w3.org/ns/prov#`. */
function nameOfGraph({ termType, value }: Term): string {
  if (termType !== 'NamedNode') return termType === 'DefaultGraph' ? 'default' : 'graph';
  const last = value.split(/[#?:/]/).findLast((part) => part !== '') ?? '';
  const name = segmentOf(nameOfSegment(last));
  return /^\.*$/.test(name) || isAuxiliary(name) ? `graph${name}` : name;
}
