/**
 * Replaces GRAPH in the algebra (SPARQL 1.1, 18.6) by the union of a group's solutions in each named graph. The graph name
 * becomes a column of the group's operations: patterns bind it, subqueries project and group by it, and LIMIT applies to each
 * of its values.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Quad_Graph as GraphTerm, NamedNode, Quad, Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { asksPatterns, namesVariable, renameVariable, useOf } from './graph-variables.js';

/** Predicate of a pattern that matches each graph once, including graphs without triples. No query can contain this IRI. */
export const anyGraph = 'urn:every graph';

/** Annotations that this module adds to operations. Variables are stored by name, because Comunica copies operations. */
export interface GraphMarks {
  /** For MINUS: column with the graph name of both sides, which is not a shared variable (8.3.3). */
  readonly graphScope?: string;
  /** For groups: column of graph names. Each graph has a group, even without solutions (18.5.1). */
  readonly everyGraph?: string;
  /** For LIMIT and OFFSET: column of graph names. Start and length apply to the rows of each graph. */
  readonly perGraph?: string;
}

type Operation = Algebra.Operation & GraphMarks;

/** Graph in which a group is evaluated. */
interface Scope {
  readonly term: NamedNode | Variable;
  /** False for the graph of WITH. It replaces the default graph, and is treated as empty if it does not exist. */
  readonly isNamed: boolean;
}

interface Lowered {
  readonly operation: Operation;
  /** True if each solution binds the column of the graph name. Otherwise the solutions are the same in all graphs. */
  readonly isBound: boolean;
}

const factory = new DataFactory<Quad>();
const lowered = (operation: object, isBound: boolean): Lowered => ({ operation: operation as Operation, isBound });
const join = (...input: readonly Operation[]): Operation => ({ type: 'join', input }) as never;
const isVariable = (term: Term): term is Variable => term.termType === 'Variable';

function patternOfGraphs(graph: GraphTerm): Operation {
  const any = factory.namedNode(anyGraph);
  const pattern = Object.assign(factory.quad(any, any, any, graph), { type: 'pattern' });
  return { type: 'bgp', patterns: [pattern] } as never;
}

/** Replaces the GRAPH operations of an operation in place. @param isWith true if the outermost GRAPH stands for WITH */
export function lowerGraphs<T extends Algebra.Operation>(root: T, isWith = false): T {
  return new Lowering().outside(root, isWith) as T;
}

class Lowering {
  private fresh = 0;

  /** Returns the node with all GRAPH operations below it replaced. */
  outside(node: unknown, isWith = false): unknown {
    if (Array.isArray(node)) return node.map((each) => this.outside(each));
    if (typeof node !== 'object' || node === null || 'termType' in node) return node;
    const { type } = node as Operation;
    if (type === 'graph') return this.graph(node as Algebra.Graph, isWith);
    // SERVICE groups are not changed, because another endpoint evaluates them.
    if (type === 'service') return node;
    for (const [key, member] of Object.entries(node))
      if (key !== 'metadata') Object.assign(node, { [key]: this.outside(member, isWith && key === 'where') });
    return node;
  }

  private graph({ name, input }: Algebra.Graph, isWith: boolean): Operation {
    const isSafe = !isVariable(name) || useOf(input, name.value).isSafe;
    const term = isSafe ? (name as Scope['term']) : factory.variable(`..g${this.fresh++}`);
    const scope = { term, isNamed: !isWith };
    const whole = this.bound(this.lower(input, scope), scope);
    if (isSafe) return whole;
    const expression = { type: 'expression', subType: 'term', term };
    return { type: 'extend', input: whole, variable: name, expression } as never;
  }

  /** Returns the operation, joined with all named graphs if its solutions do not bind the column. */
  private bound({ operation, isBound }: Lowered, { term, isNamed }: Scope): Operation {
    return isBound || !isNamed ? operation : join(patternOfGraphs(term), operation);
  }

  private lower(node: Operation, scope: Scope): Lowered {
    const { type } = node;
    const input = (): Lowered => this.lower((node as Algebra.Single).input, scope);
    switch (type) {
      case 'bgp':
        for (const pattern of (node as Algebra.Bgp).patterns) pattern.graph = scope.term;
        return lowered(node, (node as Algebra.Bgp).patterns.length > 0);
      case 'pattern':
      case 'path':
        return this.path(node as Algebra.Path, scope);
      case 'join':
      case 'union':
        return this.several(node as Algebra.Join, scope);
      case 'leftjoin':
      case 'minus':
        return this.pair(node as Algebra.LeftJoin, scope);
      case 'filter':
      case 'extend':
      case 'orderby':
        return this.expressing(node as Algebra.Filter, scope);
      case 'group':
        return this.group(node as Algebra.Group, scope);
      case 'project':
        return this.project(node as Algebra.Project, scope);
      case 'slice': {
        const { operation, isBound } = input();
        const perGraph = isBound && isVariable(scope.term) ? { perGraph: scope.term.value } : {};
        return lowered({ ...node, input: operation, ...perGraph }, isBound);
      }
      case 'distinct':
      case 'reduced': {
        const { operation, isBound } = input();
        return lowered({ ...node, input: operation }, isBound);
      }
      case 'graph':
        return lowered(this.graph(node as Algebra.Graph, false), false);
      default:
        return lowered(node, false);
    }
  }

  /** Converts a path. A zero-length path from a term to itself exists in each graph and matches no triple. */
  private path(node: Algebra.Path, scope: Scope): Lowered {
    const { subject, predicate, object } = node;
    node.graph = scope.term;
    const isTerm = [subject, object].some((end) => end.termType === 'NamedNode' || end.termType === 'Literal');
    const isFree = node.type === 'path' && isTerm && isNullable(predicate);
    return lowered(this.bound(lowered(node, !isFree), scope), true);
  }

  private several(node: Algebra.Join | Algebra.Union, scope: Scope): Lowered {
    const parts = node.input.map((each) => this.lower(each, scope));
    const isBound = parts.some((part) => part.isBound);
    const isUnion = node.type === 'union' && isBound;
    return lowered(
      { ...node, input: parts.map((part) => (isUnion ? this.bound(part, scope) : part.operation)) },
      isBound,
    );
  }

  private pair(node: Algebra.LeftJoin | Algebra.Minus, scope: Scope): Lowered {
    const [left, right] = node.input as [Operation, Operation];
    const graphScope =
      node.type === 'minus' && isVariable(scope.term) && !useOf(right, scope.term.value).isBound
        ? { graphScope: scope.term.value }
        : {};
    const input = [this.bound(this.lower(left, scope), scope), this.lower(right, scope).operation];
    this.expressions(node, scope);
    return lowered({ ...node, input, ...graphScope }, true);
  }

  /** Converts FILTER, BIND and ORDER BY, whose expressions can use the graph name (rule 14.14). */
  private expressing(node: Algebra.Filter | Algebra.Extend | Algebra.OrderBy, scope: Scope): Lowered {
    const inner = this.lower(node.input, scope);
    const sees = isVariable(scope.term) && this.sees({ ...node, input: undefined }, scope.term);
    this.expressions(node, scope);
    const operation = sees ? this.bound(inner, scope) : inner.operation;
    return lowered({ ...node, input: operation }, inner.isBound || sees);
  }

  private group(node: Algebra.Group, scope: Scope): Lowered {
    const { term } = scope;
    const inner = this.lower(node.input, scope);
    const sees = isVariable(term) && this.sees(node.aggregates, term);
    this.expressions(node, scope);
    if (!inner.isBound && !sees) return lowered({ ...node, input: inner.operation }, false);
    const group = { ...node, input: this.bound(inner, scope) };
    const isOne = node.variables.length === 0;
    if (!isVariable(term)) return lowered(isOne ? this.bound(lowered(group, false), scope) : group, true);
    const others = node.variables.filter((variable) => !variable.equals(term));
    return lowered({ ...group, variables: [...others, term], ...(isOne && { everyGraph: term.value }) }, true);
  }

  /** Converts a subquery. A variable with the name of the graph variable is another one unless the subquery projects it. */
  private project(node: Algebra.Project, scope: Scope): Lowered {
    const { term } = scope;
    const adds = isVariable(term) && !node.variables.some((variable) => variable.equals(term));
    if (adds) renameVariable(node.input, term.value, `..s${this.fresh++}`);
    const { operation, isBound } = this.lower(node.input, scope);
    const variables = adds && isBound ? [...node.variables, term] : node.variables;
    return lowered({ ...node, input: operation, variables }, isBound);
  }

  private readonly sees = (expressions: unknown, { value }: Variable): boolean =>
    namesVariable(expressions, value) || asksPatterns(expressions);

  /** Converts the patterns of EXISTS in the expressions of an operation. */
  private expressions(node: object, scope: Scope): void {
    const { expression, expressions, aggregates, args } = node as Record<string, unknown>;
    for (const each of [expression, expressions, aggregates, args].flat() as (Algebra.Expression | undefined)[])
      if (each?.subType === 'existence') {
        const existence = each as Algebra.ExistenceExpression;
        existence.input = this.lower(existence.input, scope).operation;
      } else if (each) this.expressions(each, scope);
  }
}

function isNullable(path: Algebra.Operation): boolean {
  const {
    type,
    input,
    path: step,
  } = path as Algebra.Operation & { input?: Algebra.Operation[]; path?: Algebra.Operation };
  if (type === 'ZeroOrMorePath' || type === 'ZeroOrOnePath') return true;
  if (type === 'seq') return input!.every(isNullable);
  return type === 'alt' ? input!.some(isNullable) : step !== undefined && isNullable(step);
}
