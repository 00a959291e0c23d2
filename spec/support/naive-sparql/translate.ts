/** Translates graph patterns of the syntax tree to the algebra (SPARQL 1.1, 18.2.2). */
import type { Term } from '@rdfjs/types';
import { type Algebra, type Expression, type Path, type TriplePattern, unit } from './algebra.js';
import { type Node, nodes, type Prologue, termsOfTriple } from './syntax.js';
import { iri, mapTerm, rdf, type Solution, triple, variable } from './terms.js';

/** Translates a subquery. A parameter, because the translation of queries depends on this module. */
type TranslateSelect = (query: Node, prologue: Prologue) => Algebra;

export class PatternTranslation {
  constructor(
    readonly prologue: Prologue,
    private readonly subquery: TranslateSelect,
  ) {}

  /** Translates the elements of a group (18.2.2.6). */
  group(elements: readonly Node[]): Algebra {
    const filters = elements.filter(({ subType }) => subType === 'filter');
    let algebra: Algebra = unit;
    for (const element of adjacentTriples(elements.filter(({ subType }) => subType !== 'filter'))) {
      const inner = (): Algebra => this.group(nodes(element['patterns']));
      if (element.subType === 'optional') algebra = leftJoin(algebra, inner());
      else if (element.subType === 'minus') algebra = { op: 'minus', left: algebra, right: inner() };
      else if (element.subType === 'bind') algebra = this.extend(algebra, element);
      else algebra = { op: 'join', left: algebra, right: this.element(element) };
    }
    if (filters.length === 0) return algebra;
    const conditions = filters.map(({ expression }) => this.expression(expression as Node));
    return { op: 'filter', input: algebra, conditions };
  }

  /** BIND, or `(expression AS ?variable)` of SELECT. */
  extend(input: Algebra, node: Node): Algebra {
    const { value: name } = node['variable'] as { value: string };
    return { op: 'extend', input, name, expression: this.expression(node['expression'] as Node) };
  }

  private element(element: Node): Algebra {
    const inner = nodes(element['patterns']);
    if (element.type === 'query') return this.subquery(element, this.prologue);
    if (element.subType === 'bgp') return this.triples(nodes(element['triples']));
    if (element.subType === 'group') return this.group(inner);
    if (element.subType === 'values') return this.values(element);
    if (element.subType === 'graph')
      return { op: 'graph', name: this.prologue.term(element['name'] as Node), input: this.group(inner) };
    if (element.subType !== 'union') throw new Error(`Unsupported pattern: ${element.subType}`);
    const branches = inner.map((branch) => this.element(branch));
    return branches.reduce((left, right) => ({ op: 'union', left, right }));
  }

  values(node: Node): Algebra {
    const names = nodes(node['variables']).map(({ value }) => value as string);
    const rows = (node['values'] as readonly Record<string, Node | undefined>[]).map(
      (row): Solution =>
        new Map(Object.entries(row).flatMap(([name, term]) => (term ? [[name, this.prologue.term(term)]] : []))),
    );
    return { op: 'values', rows, names };
  }

  /** Translates a basic graph pattern with its property paths (18.2.2.5). */
  private triples(triples: readonly Node[]): Algebra {
    const flat = triples.flatMap((node) => this.flatten(node));
    const patterns = flat.flatMap(({ subject, predicate, object }) =>
      'kind' in predicate ? [] : [{ subject, predicate, object }],
    );
    let algebra: Algebra = { op: 'bgp', triples: patterns };
    for (const { subject, predicate, object } of flat)
      if ('kind' in predicate)
        algebra = { op: 'join', left: algebra, right: { op: 'path', subject, path: predicate, object } };
    return { op: 'hideBlanks', input: algebra };
  }

  template(triples: readonly Node[]): TriplePattern[] {
    return triples.flatMap((node) => this.flatten(node)) as unknown as TriplePattern[];
  }

  /** Returns the triples of a node, including those of collections and blank node property lists. */
  private flatten(node: Node): { subject: Term; predicate: Term | Path; object: Term }[] {
    if (node.subType === 'reifiedTriple') {
      const [own, ...within] = this.flatten(nodes(node['triples'])[0]!);
      return [this.reification(node['identifier'] as Node, own!), ...within];
    }
    if (node.type === 'tripleCollection') return nodes(node['triples']).flatMap((each) => this.flatten(each));
    const [subject, object] = [node['subject'] as Node, node['object'] as Node];
    const within = [subject, object].filter(({ type }) => type === 'tripleCollection');
    const predicate = node['predicate'] as Node;
    const own = {
      subject: this.node(subject),
      predicate: predicate.type === 'path' ? this.path(predicate) : this.prologue.term(predicate),
      object: this.node(object),
    };
    // An annotation has triples of its own, or only a reifier (SPARQL 1.2).
    const annotated = nodes(node['annotations']).flatMap((each) => [
      this.reification((each['val'] ?? each['identifier']) as Node, own),
      ...(each.type === 'tripleCollection' ? this.flatten(each) : []),
    ]);
    return [own, ...within.flatMap((each) => this.flatten(each)), ...annotated];
  }

  /** The triple that a reifier reifies a triple, which is not asserted by it. */
  private reification(
    reifier: Node,
    { subject, predicate, object }: { subject: Term; predicate: Term | Path; object: Term },
  ) {
    const term = triple(subject, predicate as Term, object);
    return { subject: this.node(reifier), predicate: iri(`${rdf}reifies`), object: term };
  }

  private node(node: Node): Term {
    const term = this.prologue.term(node.type === 'tripleCollection' ? (node['identifier'] as Node) : node);
    return mapTerm(term, (each) => (each.termType === 'BlankNode' ? variable(`_:${each.value}`) : each));
  }

  private path(node: Node): Path {
    if (node.type !== 'path') return { kind: 'link', iri: this.prologue.iri(node) };
    const items = nodes(node['items']);
    if (node.subType === '!') return this.negated(items);
    const parts = items.map((item) => this.path(item));
    if (node.subType === '/' || node.subType === '|') {
      const kind = node.subType === '/' ? 'sequence' : 'alternative';
      return parts.reduce((left, right) => ({ kind, left, right }));
    }
    const kinds = { '^': 'inverse', '?': 'zeroOrOne', '*': 'zeroOrMore', '+': 'oneOrMore' } as const;
    return { kind: kinds[node.subType as keyof typeof kinds], of: parts[0]! };
  }

  /** Translates a negated set. One with both directions is an alternative of two sets (18.2.2.3). */
  private negated(items: readonly Node[]): Path {
    const members = items.flatMap((item) => (item.subType === '|' ? nodes(item['items']) : [item]));
    const inverse = members.filter(({ subType }) => subType === '^').map(({ items }) => nodes(items)[0]!);
    const forward = members.filter(({ subType }) => subType !== '^');
    const set = (of: readonly Node[]): Path => ({ kind: 'negated', iris: of.map((each) => this.prologue.iri(each)) });
    const backwards: Path = { kind: 'inverse', of: set(inverse) };
    if (inverse.length === 0) return set(forward);
    return forward.length === 0 ? backwards : { kind: 'alternative', left: set(forward), right: backwards };
  }

  expression(node: Node): Expression {
    if (node.subType === 'patternOperation') {
      const pattern = this.group(nodes((node['args'] as Node)['patterns']));
      return { kind: 'exists', isNegated: node['operator'] === 'notexists', pattern };
    }
    if (node.type === 'term' && node.subType === 'triple')
      return { kind: 'call', name: 'triple', args: termsOfTriple(node).map((each) => this.expression(each)) };
    if (node.type === 'term') {
      const term = this.prologue.term(node);
      return term.termType === 'Variable' ? { kind: 'variable', name: term.value } : { kind: 'term', term };
    }
    const args = nodes(node['args']).map((arg) => this.expression(arg));
    const name = node.subType === 'functionCall' ? this.prologue.iri(node['function'] as Node) : node['operator'];
    if (typeof name !== 'string') throw new Error(`Unsupported expression: ${node.subType}`);
    return { kind: 'call', name: node.subType === 'functionCall' ? name : name.toLowerCase(), args };
  }
}

/** Merges adjacent triple patterns into one basic graph pattern, including those separated by a FILTER (18.2.2.5). */
function adjacentTriples(elements: readonly Node[]): Node[] {
  const merged: Node[] = [];
  for (const element of elements) {
    const last = merged.at(-1);
    if (element.subType === 'bgp' && last?.subType === 'bgp')
      merged[merged.length - 1] = { ...last, triples: [...nodes(last['triples']), ...nodes(element['triples'])] };
    else merged.push(element);
  }
  return merged;
}

const leftJoin = (left: Algebra, right: Algebra): Algebra =>
  right.op === 'filter'
    ? { op: 'leftJoin', left, right: right.input, conditions: right.conditions }
    : { op: 'leftJoin', left, right, conditions: [] };
