/**
 * Compiles EXISTS, NOT EXISTS and MINUS to plans (SPARQL 1.1 8). The result of an EXISTS within an expression becomes a mark,
 * which is written to the rows before the expression is evaluated. This module must not depend on rows.
 */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { nodesOf } from '../parse/query-scopes.js';
import { compileExpression } from './compile-expression.js';
import { filterPlan } from './compile-join.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import { beginsAtOneOf, isIndependent, withoutConditions } from './independence.js';
import {
  type Existence,
  type Expression,
  isSubset,
  type Mark,
  type Plan,
  partsOf,
  type SemiJoinPlan,
  type Slot,
  unite,
} from './plan.js';

export interface ExistenceTools {
  readonly names: Names;
  readonly compile: (node: Algebra.Operation, names: Names) => Plan;
}

/** Compiles a FILTER. Conditions without EXISTS come first, and are pushed down as far as possible. */
export function compileFilter(input: Plan, expression: Algebra.Expression, tools: ExistenceTools): Plan {
  let plan = input;
  const all = conjuncts(expression);
  const [plain, asking] = [all.filter((each) => !asksPatterns(each)), all.filter(asksPatterns)];
  for (const condition of plain) plan = filterPlan(plan, compileExpression(condition, tools.names));
  for (const condition of asking)
    plan = isExistence(condition)
      ? semiJoin(plan, existenceOf(condition, plan, tools), !condition.not)
      : filterPlan(marked(plan, [condition], tools), compileExpression(condition, tools.names));
  return plan;
}

const isExistence = (node: Algebra.Expression): node is Algebra.ExistenceExpression => node.subType === 'existence';

function conjuncts(node: Algebra.Expression): Algebra.Expression[] {
  const { operator, args } = node as Algebra.OperatorExpression;
  return node.subType === 'operator' && operator === '&&' ? args.flatMap(conjuncts) : [node];
}

/** Returns the EXISTS expressions within an expression, without those nested in their patterns. */
function existencesIn(node: Algebra.Expression): Algebra.ExistenceExpression[] {
  if (isExistence(node)) return [node];
  const { args = [], expression } = node as Partial<Algebra.OperatorExpression & Algebra.AggregateExpression>;
  return [...args, ...(expression ? [expression] : [])].flatMap(existencesIn);
}
const asksPatterns = (node: Algebra.Expression): boolean => existencesIn(node).length > 0;

/** Returns a plan that adds the results (marks) of the EXISTS in the expressions to the rows of another plan. */
export function marked(input: Plan, expressions: readonly Algebra.Expression[], tools: ExistenceTools): Plan {
  const marks = marksOf(expressions, input, tools);
  if (marks.length === 0) return input;
  const { certain, possible } = input;
  return { kind: 'mark', input, marks, certain, possible, isJoinable: false };
}

/** Slots that the rows tested by EXISTS or MINUS bind. */
type Outer = Pick<Plan, 'certain' | 'possible'>;

export function marksOf(expressions: readonly Algebra.Expression[], outer: Outer, tools: ExistenceTools): Mark[] {
  return expressions.flatMap(existencesIn).map((node) => {
    const slot = tools.names.unnamed();
    tools.names.marks.set(node, slot);
    return { existence: existenceOf(node, outer, tools), slot };
  });
}

/** Returns the expression with the slots that its marks depend on added to its slots. */
export const withMarked = ({ evaluate, bind, slots }: Expression, marks: readonly Mark[]): Expression => ({
  ...{ evaluate, bind },
  slots: unite([slots, ...marks.map(({ existence }) => new Set(existence.shared))]),
});

function existenceOf(
  { input: pattern }: Algebra.ExistenceExpression,
  { certain, possible: outer }: Outer,
  { names, compile }: ExistenceTools,
): Existence {
  const before = names.terms;
  names.terms = unite([before, certain]);
  const whole = compile(pattern, names);
  names.terms = before;
  const mentioned = mentionedIn(pattern, names);
  const shared = mentioned.filter((slot) => outer.has(slot));
  const slots = { shared, mentioned, counter: names.unnamed() };
  const parts = [...partsOf(whole)];
  const asksOthers = parts.some(({ kind }) => kind === 'service');
  // If no slot is shared, `each` runs the right side once for all rows, and stops at the first match.
  if (shared.length === 0 && !asksOthers) return { right: whole, conditions: [], whole, way: 'each', ...slots };
  const { rest: right, conditions } = withoutConditions(whole, outer);
  const open = new Set([...outer].filter((slot) => !certain.has(slot)));
  // If the right side binds no variable of the row, joining would combine each row with all rows of the right side.
  const isJoined = conditions.length === 0 || [...right.certain].some((slot) => outer.has(slot));
  if (right.isJoinable && isJoined && !parts.some((part) => beginsAtOneOf(part, open)))
    return { right, conditions, whole, way: 'through', ...slots };
  if (isIndependent(right, outer)) return { right, conditions, whole, way: 'alone', ...slots };
  // The SERVICE request would be repeated for each row.
  if (asksOthers)
    throw new NotCompiledError('SERVICE within an EXISTS that depends on the row would send a request for each row');
  return { right: whole, conditions: [], whole, way: 'each', ...slots };
}

/** Returns the slots of the variables in a pattern. */
function mentionedIn(pattern: Algebra.Operation, names: Names): Slot[] {
  const found = new Set<Slot>();
  for (const { termType, value } of nodesOf(pattern) as Iterable<Partial<Term>>)
    if (termType === 'Variable' && !names.isIdle(value!)) found.add(names.slot(value!));
  return [...found];
}

/** Compiles MINUS. @param scope slot of the graph name, which does not count as a variable shared by both sides */
export function minusPlan([left, right]: readonly [Plan, Plan], names: Names, scope: Slot | undefined): Plan {
  const shared = [...left.possible].filter((slot) => right.possible.has(slot));
  const all = new Set(shared.filter((slot) => slot !== scope));
  if (all.size === 0) return left;
  const counter = names.unnamed();
  const minus = isSubset(all, left.certain) && isSubset(all, right.certain) ? 'always' : 'perhaps';
  const way = right.isJoinable && minus === 'always' ? 'through' : 'alone';
  const slots = { shared, mentioned: shared, counter, scope };
  return semiJoin(left, { right, conditions: [], whole: right, way, minus, ...slots }, false);
}

function semiJoin(left: Plan, existence: Existence, isKept: boolean): SemiJoinPlan {
  const { certain, possible } = left;
  return { kind: 'semiJoin', left, existence, isKept, certain, possible, isJoinable: false };
}
