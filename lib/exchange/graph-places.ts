/** What becomes of the graphs of one file of a folder: a resource of the file's name, or a container with one for each. Pure. */
import type { Term } from '@rdfjs/types';
import { IriRewriting, type Rewrite } from '../storage/state/iri-rewriting.js';
import { isAuxiliary, nameOfSegment, segmentOf } from './file-names.js';
import { SyntaxFault } from './member.js';

/** Graphs of a file: their names are in memory. */
const maxGraphs = 100_000;

export interface GraphPlace {
  /** The segment of its IRI in the container that the file becomes; `undefined`: the file has one graph, and is the resource. */
  readonly name: string | undefined;
  /** What the graph was called; none where it had no IRI. */
  readonly oldNames: readonly string[];
}

/** Graphs in the order of the file, which give the same places each time. */
export class GraphPlaces {
  private readonly places = new Map<string, { name: string; oldNames: string[] }>();
  private readonly known = new Set<string>();
  private readonly taken = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly rewrite: (iri: string) => string;
  private last: Term | undefined;

  /** @param file its path, for people */
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

/** The last part of an IRI that says something: `prov` of `http://www.w3.org/ns/prov#`. */
function nameOfGraph({ termType, value }: Term): string {
  if (termType !== 'NamedNode') return termType === 'DefaultGraph' ? 'default' : 'graph';
  const last = value.split(/[#?:/]/).findLast((part) => part !== '') ?? '';
  const name = segmentOf(nameOfSegment(last));
  return /^\.*$/.test(name) || isAuxiliary(name) ? `graph${name}` : name;
}
