/** Indexed triples, with lookups by subject and predicate. */
import { iriOf, type Quad, rdf, rdfType, type Term, termText } from './document.js';

export class Graph {
  private readonly subjectsBy = new Map<string, Quad[]>();

  constructor(readonly quads: readonly Quad[]) {
    for (const quad of quads) {
      const key = termText(quad.subject);
      const known = this.subjectsBy.get(key);
      if (known) known.push(quad);
      else this.subjectsBy.set(key, [quad]);
    }
  }

  /** Distinct subjects. */
  get subjects(): readonly Term[] {
    return [...this.subjectsBy.values()].map(([first]) => first!.subject);
  }

  objects(subject: Term, predicate: string): readonly Term[] {
    const of = this.subjectsBy.get(termText(subject)) ?? [];
    return of.flatMap((quad) => (quad.predicate.value === predicate ? quad.object : []));
  }

  /** Returns the distinct predicates of a subject. */
  predicates(subject: Term): readonly string[] {
    return [...new Set((this.subjectsBy.get(termText(subject)) ?? []).map(({ predicate }) => predicate.value))];
  }

  value(subject: Term, predicate: string): Term | undefined {
    return this.objects(subject, predicate)[0];
  }

  /** Returns the members of an RDF list. A cyclic list ends at the first repeated node. */
  list(head: Term | undefined): readonly Term[] {
    const nodes = new Map<string, Term>();
    for (let node = head; node && node.value !== `${rdf}nil`; node = this.value(node, `${rdf}rest`)) {
      if (nodes.has(termText(node))) break;
      nodes.set(termText(node), node);
    }
    return [...nodes.values()].flatMap((node) => this.objects(node, `${rdf}first`));
  }

  /** Returns the types of a node, with their superclasses in any of the graphs. */
  types(node: Term, ...others: readonly Graph[]): ReadonlySet<string> {
    const found = new Set(this.objects(node, rdfType).map(({ value }) => value));
    for (const type of found)
      for (const graph of [this, ...others])
        for (const { value } of graph.objects(iriOf(type), 'http://www.w3.org/2000/01/rdf-schema#subClassOf'))
          found.add(value);
    return found;
  }
}
