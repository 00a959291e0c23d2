/** Translates queries: grouping, aggregates, SELECT expressions and solution modifiers (SPARQL 1.1, 18.2.3 to 18.2.5). */
import type { Term } from '@rdfjs/types';
import type { Aggregate, Algebra, Expression, GroupKey, TranslatedQuery } from './algebra.js';
import { type Node, nodes, Prologue } from './syntax.js';
import { termsIn } from './terms.js';
import { PatternTranslation } from './translate.js';

type Modifiers = Readonly<Record<string, Node | undefined>>;

export function translateQuery(root: Node, base: string): TranslatedQuery {
  const prologue = new Prologue(base, nodes(root['context']));
  const { clauses } = root['datasets'] as { clauses: readonly { clauseType: string; value: Node }[] };
  const ofClause = (type: string): string[] =>
    clauses.filter(({ clauseType }) => clauseType === type).map(({ value }) => prologue.iri(value));
  const { algebra, names } = new QueryTranslation(root, prologue).translate();
  return {
    form: root.subType as TranslatedQuery['form'],
    base: prologue.baseIri,
    pattern: algebra,
    names,
    template: new PatternTranslation(prologue, subquery).template(nodes((root['template'] as Node)?.['triples'])),
    isOrdered: (root['solutionModifiers'] as Modifiers)['order'] !== undefined,
    ...(clauses.length > 0 && {
      dataset: { defaultGraphs: ofClause('default'), namedGraphs: ofClause('named') },
    }),
  };
}

const subquery = (query: Node, prologue: Prologue): Algebra =>
  new QueryTranslation(query, prologue).translate().algebra;

const isVariable = ({ subType }: Node): boolean => subType === 'variable';
const nameOf = (node: Node): string => node['value'] as string;

class QueryTranslation extends PatternTranslation {
  private readonly aggregates: Aggregate[] = [];
  private readonly modifiers: Modifiers;

  constructor(
    private readonly query: Node,
    prologue: Prologue,
  ) {
    super(prologue, subquery);
    this.modifiers = (query['solutionModifiers'] as Modifiers | undefined) ?? {};
  }

  translate(): { algebra: Algebra; names: readonly string[] } {
    const { query } = this;
    const where = this.group(nodes((query['where'] as Node | undefined)?.['patterns']));
    const items = query.subType === 'select' ? nodes(query['variables']) : [];
    // Expressions first, because they collect the aggregates.
    const extensions = items
      .filter((item) => item.subType === 'bind')
      .map((item) => ({
        name: nameOf(item['variable'] as Node),
        expression: this.expression(item['expression'] as Node),
      }));
    const having = nodes(this.modifiers['having']?.['having']).map((each) => this.expression(each));
    const order = nodes(this.modifiers['order']?.['orderDefs']).map(({ expression, descending }) => ({
      expression: this.expression(expression as Node),
      isDescending: descending === true,
    }));
    let algebra = this.grouped(where);
    if (having.length > 0) algebra = { op: 'filter', input: algebra, conditions: having };
    if (query['values']) algebra = { op: 'join', left: algebra, right: this.values(query['values'] as Node) };
    const isAll = items.some(({ type }) => type === 'wildcard') || query.subType === 'describe';
    const names = isAll
      ? [...new Set(inScope(algebra))]
      : items.map((item) => (isVariable(item) ? nameOf(item) : nameOf(item['variable'] as Node)));
    for (const { name, expression } of extensions) algebra = { op: 'extend', input: algebra, name, expression };
    if (order.length > 0) algebra = { op: 'orderBy', input: algebra, keys: order };
    if (query.subType === 'select') algebra = { op: 'project', input: algebra, names };
    if (query['distinct']) algebra = { op: 'distinct', input: algebra };
    return { algebra: this.sliced(algebra), names };
  }

  private grouped(input: Algebra): Algebra {
    const groupings = nodes(this.modifiers['group']?.['groupings']);
    if (groupings.length === 0 && this.aggregates.length === 0) return input;
    let extended = input;
    const keys = groupings.map((grouping): GroupKey => {
      const { variable, value } = grouping as { variable?: Node; value?: Node };
      if (isVariable(grouping)) return { expression: this.expression(grouping), as: nameOf(grouping) };
      if (!variable || !value || grouping.type === 'expression') return { expression: this.expression(grouping) };
      // Aggregates can refer to the variable of a key, so it is bound first.
      const name = nameOf(variable);
      extended = { op: 'extend', input: extended, name, expression: this.expression(value) };
      return { expression: { kind: 'variable', name }, as: name };
    });
    return { op: 'group', input: extended, keys, aggregates: this.aggregates };
  }

  private sliced(input: Algebra): Algebra {
    const { limit, offset } = (this.modifiers['limitOffset'] ?? {}) as { limit?: number; offset?: number };
    if (limit === undefined && offset === undefined) return input;
    return { op: 'slice', input, offset: offset ?? 0, limit: limit ?? Infinity };
  }

  /** Replaces an aggregate by a variable that `group` binds (18.2.4.1). */
  override expression(node: Node): Expression {
    if (node.subType !== 'aggregate') return super.expression(node);
    const [of] = nodes(node['expression']);
    const as = `_:aggregate${this.aggregates.length}`;
    const { separator } = node as { separator?: string };
    this.aggregates.push({
      name: (node['aggregation'] as string).toLowerCase(),
      isDistinct: node['distinct'] === true,
      as,
      ...(of?.type === 'wildcard' ? {} : { of: super.expression(of!) }),
      ...(separator === undefined ? {} : { separator }),
    });
    return { kind: 'variable', name: as };
  }
}

/** Returns the variables in scope (18.2.1), in pattern order. */
function inScope(algebra: Algebra): string[] {
  const ofTerms = (...terms: readonly Term[]): string[] =>
    terms.flatMap((term) => {
      if (term.termType === 'Quad') return ofTerms(...termsIn(term));
      return term.termType === 'Variable' && !term.value.startsWith('_:') ? [term.value] : [];
    });
  switch (algebra.op) {
    case 'bgp':
      return algebra.triples.flatMap(({ subject, predicate, object }) => ofTerms(subject, predicate, object));
    case 'path':
      return ofTerms(algebra.subject, algebra.object);
    case 'join':
    case 'leftJoin':
    case 'union':
      return [...inScope(algebra.left), ...inScope(algebra.right)];
    case 'minus':
      return inScope(algebra.left);
    case 'extend':
      return [...inScope(algebra.input), algebra.name];
    case 'graph':
      return [...ofTerms(algebra.name), ...inScope(algebra.input)];
    case 'values':
    case 'project':
      return [...algebra.names];
    case 'group':
      return algebra.keys.flatMap(({ as }) => (as === undefined ? [] : [as]));
    default:
      return inScope(algebra.input);
  }
}
