/** Compiles a query to a plan and the form of its result. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { compileNode, distinctPlan, inputOf, projected } from './compile.js';
import { constantToken } from './compile-expression.js';
import { makeJoin } from './compile-join.js';
import { compileSlice } from './compile-modifiers.js';
import { type Names, NotCompiledError, namesOf } from './compile-scope.js';
import { compileTemplate } from './compile-template.js';
import type { GraphForm, Plan, Slot } from './plan.js';

export interface Compiled {
  readonly plan: Plan;
  readonly width: number;
  /** Variable names by slot. */
  readonly variables: readonly (string | undefined)[];
  /** Columns of the result. */
  readonly columns: readonly (readonly [name: string, slot: Slot])[];
  /** True if the query needs only a few rows, no matter which. */
  readonly isHasty: boolean;
  /** True if the plan is valid for one execution only, because it uses NOW(). */
  readonly isOfMoment: boolean;
  /** Form of the result triples. Only for CONSTRUCT and DESCRIBE. */
  readonly graph?: GraphForm;
}

/** Compiles a complete query. @param base base IRI for IRI() @throws NotCompiledError */
export function compileQuery(root: Algebra.Operation, base = ''): Compiled {
  const names = namesOf(root, base);
  if (isSelect(root)) {
    const plan = compileRoot(root, names);
    const columns = projected(root).map((name) => [name, names.slot(name)] as const);
    const { width, variables, isOfMoment } = names;
    return { plan, width, variables, columns, isHasty: isHasty(plan), isOfMoment };
  }
  // A LIMIT of CONSTRUCT limits solutions, not triples.
  const cut = root.type === 'slice' ? (root as Algebra.Slice) : undefined;
  const form = cut?.input ?? root;
  const { input: solutions, graph } = graphForm(form, names);
  const input = solutions ? compileNode(solutions, names) : makeJoin({});
  const plan = cut ? compileSlice(cut, input, names) : input;
  const isAsk = form.type === 'ask';
  const { width, variables, isOfMoment } = names;
  return { plan, width, variables, columns: [], isHasty: isAsk || isHasty(plan), isOfMoment, ...(graph && { graph }) };
}

/** Operation that returns the solutions (undefined: one empty solution), and the form of the result triples. */
interface GraphParts {
  readonly input: Algebra.Operation | undefined;
  readonly graph: GraphForm | undefined;
}

function graphForm(root: Algebra.Operation, names: Names): GraphParts {
  const { input } = root as Algebra.Single;
  if (root.type === 'ask') return { input, graph: undefined };
  const { input: constructs = [] } = root as Partial<Algebra.Multi>;
  if (root.type === 'union' && constructs.every(isConstruct)) return describeForm(constructs, names);
  if (!isConstruct(root)) throw new NotCompiledError(`${root.type} is not a query form of SPARQL 1.1`);
  return { input, graph: { kind: 'construct', template: compileTemplate(root.template, names, constantToken) } };
}

const isConstruct = (node: Algebra.Operation): node is Algebra.Construct => node.type === 'construct';

/**
 * Compiles DESCRIBE. Comunica translates it to CONSTRUCTs with all triples of each term as subject. A description also follows
 * blank nodes, so it is evaluated separately: only the terms and the solutions are taken from the CONSTRUCTs.
 */
function describeForm(constructs: readonly Algebra.Construct[], names: Names): GraphParts {
  const added = new Set(constructs.flatMap(({ template }) => template.map(nameOf)));
  const terms = constructs.flatMap(({ template }) => template.map(({ subject }) => subject));
  const [variables, constants] = [terms.filter(isVariable), terms.filter((term) => !isVariable(term))];
  const input = constructs.find(({ template }) => template.some(({ subject }) => isVariable(subject)))?.input;
  const slots = variables.map(({ value }) => names.slot(value));
  return {
    input: input && withoutPatterns(input, added),
    graph: { kind: 'describe', slots, tokens: constants.map(constantToken) },
  };
}

const nameOf = ({ subject, predicate, object }: Algebra.Pattern): string =>
  JSON.stringify([subject, predicate, object]);

/** Returns the operation without some patterns, or `undefined` if the result is empty. */
function withoutPatterns(node: Algebra.Operation, names: ReadonlySet<string>): Algebra.Operation | undefined {
  if (node.type === 'pattern') return names.has(nameOf(node as Algebra.Pattern)) ? undefined : node;
  const key = node.type === 'bgp' ? 'patterns' : node.type === 'join' ? 'input' : undefined;
  if (!key) return node;
  const parts = (node as unknown as Record<string, Algebra.Operation[]>)[key]!;
  const left = parts.flatMap((part) => withoutPatterns(part, names) ?? []);
  return left.length === 0 ? undefined : ({ ...node, [key]: left } as Algebra.Operation);
}

const isVariable = ({ termType }: Term): boolean => termType === 'Variable';

function isHasty(plan: Plan): boolean {
  if (plan.kind === 'slice') return plan.length < maxHasty && !needsAll(plan.input);
  return plan.kind === 'extend' && isHasty(plan.input);
}

/** Maximum LIMIT of a plan with `isHasty`. For a larger LIMIT, joining many rows at a time is faster. */
const maxHasty = 10_000;
const needsAll = (plan: Plan): boolean =>
  plan.kind === 'order' || plan.kind === 'group' || (plan.kind === 'extend' && needsAll(plan.input));

const modifiers = new Set(['slice', 'distinct', 'reduced']);
const isSelect = (node: Algebra.Operation): boolean =>
  node.type === 'project' || (modifiers.has(node.type) && isSelect((node as Algebra.Single).input));

/** Compiles the query without its outermost projection, whose variables are in the scope of the query itself. */
function compileRoot(node: Algebra.Operation, names: Names): Plan {
  if (node.type === 'project') return inputOf(node as Algebra.Project, names);
  if (!modifiers.has(node.type)) return compileNode(node, names);
  const input = compileRoot((node as Algebra.Single).input, names);
  if (node.type === 'slice') return compileSlice(node as Algebra.Slice, input, names);
  return node.type === 'distinct' ? distinctPlan(node, input, names) : input;
}
