/**
 * EXISTS, NOT EXISTS and MINUS as plans, and EXISTS within an expression as a mark that its rows get first (SPARQL 1.1 8). It must
 * not know rows.
 */
import type { Term } from '@rdfjs/types';
import { compileExpression } from './compile-expression.js';
import { filterPlan } from './compile-join.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import {
  type Existence,
  type Expression,
  isSubset,
  type Mark,
  type Plan,
  partsOf,
  type SemiJoinPlan,
  type Slot,
  slotsOf,
  unite,
} from './plan.js';

export interface ExistenceTools {
  readonly names: Names;
  readonly compile: (node: Node, names: Names) => Plan;
}

/** What fails without a look at other patterns comes first, and goes down as far as it may. */
export function compileFilter(input: Plan, expression: Node, tools: ExistenceTools): Plan {
  let plan = input;
  const all = conjuncts(expression);
  const [plain, asking] = [all.filter((each) => !asksPatterns(each)), all.filter(asksPatterns)];
  for (const condition of plain) plan = filterPlan(plan, compileExpression(condition, tools.names));
  for (const condition of asking)
    plan =
      condition.subType === 'existence'
        ? semiJoin(plan, existenceOf(condition, plan.possible, tools), condition['not'] !== true)
        : filterPlan(marked(plan, [condition], tools), compileExpression(condition, tools.names));
  return plan;
}

const conjuncts = (node: Node): Node[] =>
  node.subType === 'operator' && node['operator'] === '&&' ? (node['args'] as Node[]).flatMap(conjuncts) : [node];

/** The EXISTS of an expression; those within their patterns belong to the patterns. */
function existencesIn(node: Node): Node[] {
  if (node.subType === 'existence') return [node];
  const below = [...((node['args'] as Node[] | undefined) ?? []), node['expression'] as Node | undefined];
  return below.flatMap((each) => (each ? existencesIn(each) : []));
}
const asksPatterns = (node: Node): boolean => existencesIn(node).length > 0;

/** The rows of a plan, marked with what expressions ask of patterns. */
export function marked(input: Plan, expressions: readonly Node[], tools: ExistenceTools): Plan {
  const marks = marksOf(expressions, input.possible, tools);
  if (marks.length === 0) return input;
  const { certain, possible } = input;
  return { kind: 'mark', input, marks, certain, possible, isJoinable: false };
}

/** @param outer what the rows may bind */
export function marksOf(expressions: readonly Node[], outer: ReadonlySet<Slot>, tools: ExistenceTools): Mark[] {
  return expressions.flatMap(existencesIn).map((node) => {
    const slot = tools.names.unnamed();
    tools.names.marks.set(node, slot);
    return { existence: existenceOf(node, outer, tools), slot };
  });
}

/** The expression depends on what its marks depend on. */
export const withMarked = ({ evaluate, slots }: Expression, marks: readonly Mark[]): Expression => ({
  evaluate,
  slots: unite([slots, ...marks.map(({ existence }) => new Set(existence.shared))]),
});

function existenceOf(node: Node, outer: ReadonlySet<Slot>, { names, compile }: ExistenceTools): Existence {
  const pattern = node['input'] as Node;
  const right = compile(pattern, names);
  const shared = mentionedIn(pattern, names).filter((slot) => outer.has(slot));
  const counter = names.unnamed();
  if (right.isJoinable) return { right, way: 'through', shared, counter };
  const parts = [...partsOf(right)];
  // What is found by itself must not depend on the row: neither in what is filtered, nor in what is cut off.
  const own = unite(parts.flatMap((part) => [part.possible, ...ownSlots(part)]));
  const sees = new Set([...own].filter((slot) => outer.has(slot)));
  if (isSubset(sees, right.certain) && !parts.some(({ kind }) => kind === 'slice' || kind === 'mark'))
    return { right, way: 'alone', shared, counter };
  // It would be asked for each row.
  if (parts.some(({ kind }) => kind === 'service')) throw new NotCompiledError('EXISTS with SERVICE in this place');
  return { right, way: 'each', shared, counter };
}

function ownSlots(plan: Plan): ReadonlySet<Slot>[] {
  if (plan.kind === 'join') return [...plan.patterns.map(slotsOf), ...plan.filters.map(({ slots }) => slots)];
  if (plan.kind === 'filter' || plan.kind === 'leftJoin') return plan.condition ? [plan.condition.slots] : [];
  return plan.kind === 'extend' ? [plan.expression.slots] : [];
}

/** The slots of the variables that are written in a pattern. */
function mentionedIn(pattern: Node, names: Names): Slot[] {
  const found = new Set<Slot>();
  const left: unknown[] = [pattern];
  while (left.length > 0) {
    const node = left.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { termType, value } = node as Partial<Term>;
    if (termType === 'Variable') {
      if (!names.isIdle(value!)) found.add(names.slot(value!));
    } else left.push(...Object.values(node));
  }
  return [...found];
}

export function minusPlan(left: Plan, right: Plan, names: Names): Plan {
  const shared = [...left.possible].filter((slot) => right.possible.has(slot));
  if (shared.length === 0) return left;
  const counter = names.unnamed();
  const all = new Set(shared);
  const minus = isSubset(all, left.certain) && isSubset(all, right.certain) ? 'always' : 'perhaps';
  const way = right.isJoinable && minus === 'always' ? 'through' : 'alone';
  return semiJoin(left, { right, way, minus, shared, counter }, false);
}

function semiJoin(left: Plan, existence: Existence, isKept: boolean): SemiJoinPlan {
  const { certain, possible } = left;
  return { kind: 'semiJoin', left, existence, isKept, certain, possible, isJoinable: false };
}
