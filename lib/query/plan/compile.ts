/** Compiles algebra to plans. A query with an operation without a compiler is rejected. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Variable } from '@rdfjs/types';
import type { TermKey } from '../access/terms.js';
import type { GraphMarks } from '../parse/graph-names.js';
import { compileFilter, type ExistenceTools, marked, marksOf, minusPlan, withMarked } from './compile-existence.js';
import { compileExpression, constantToken } from './compile-expression.js';
import { joinPlans, makeJoin, makeLeftJoin, unionOf } from './compile-join.js';
import { compileGroup, compileOrder, compileSlice } from './compile-modifiers.js';
import { compilePath } from './compile-path.js';
import { compilePattern } from './compile-pattern.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import { compileService } from './compile-service.js';
import { type Plan, type Slot, unite, type ValuesPlan } from './plan.js';

/** Returns the names of the variables that a query projects. Skips modifiers such as DISTINCT. */
export const projected = (node: Algebra.Operation): string[] =>
  node.type === 'project' ? valuesOf((node as Algebra.Project).variables) : projected((node as Algebra.Distinct).input);
const valuesOf = (variables: readonly Variable[]): string[] => variables.map(({ value }) => value);

/** Compiles an operation and its inputs. @throws NotCompiledError for an unsupported operation */
export function compileNode(node: Algebra.Operation, names: Names): Plan {
  const compile = compilers[node.type] as ((node: Algebra.Operation, names: Names) => Plan) | undefined;
  if (!compile) throw new NotCompiledError(`${node.type.toUpperCase()} is not an operation of SPARQL 1.1`);
  return compile(node, names);
}

export const inputOf = ({ input }: Algebra.Single, names: Names): Plan => compileNode(input, names);
const inputsOf = ({ input }: Algebra.Multi, names: Names): Plan[] => input.map((each) => compileNode(each, names));

/** Compilers by type of operation. The type of the parameter corresponds to the key. */
const compilers: Readonly<Record<string, (node: never, names: Names) => Plan>> = {
  bgp: ({ patterns }: Algebra.Bgp, names) =>
    patterns.length === 0 ? makeJoin({}) : joinPlans(patterns.map((pattern) => compilePattern(pattern, names))),
  pattern: (node: Algebra.Pattern, names) => compilePattern(node, names),
  path: compilePath,
  join: (node: Algebra.Join, names) => joinPlans(inputsOf(node, names)),
  union: (node: Algebra.Union, names) => unionOf(inputsOf(node, names)),
  values: compileValues,
  service: compileService,
  filter: (node: Algebra.Filter, names) => compileFilter(inputOf(node, names), node.expression, tools(names)),
  leftjoin: compileLeftJoin,
  minus: (node: Algebra.Minus & GraphMarks, names) => {
    const [left, right] = inputsOf(node, names) as [Plan, Plan];
    const scope = node.graphScope === undefined ? undefined : names.slot(node.graphScope);
    return minusPlan([left, right], names, scope);
  },
  extend: (node: Algebra.Extend, names) => {
    const input = marked(inputOf(node, names), [node.expression], tools(names));
    const slot = names.slot(node.variable.value);
    const expression = compileExpression(node.expression, names);
    const possible = unite([input.possible, new Set([slot])]);
    return { kind: 'extend', input, slot, expression, certain: input.certain, possible, isJoinable: false };
  },
  group: (node: Algebra.Group, names) =>
    compileGroup(node, marked(inputOf(node, names), node.aggregates, tools(names)), names),
  orderby: (node: Algebra.OrderBy, names) =>
    compileOrder(node, marked(inputOf(node, names), node.expressions, tools(names)), names),
  slice: (node: Algebra.Slice, names) => compileSlice(node, inputOf(node, names), names),
  distinct: (node: Algebra.Distinct, names) => distinctPlan(node, inputOf(node, names), names),
  // REDUCED may remove duplicates but need not.
  reduced: (node: Algebra.Reduced, names) => inputOf(node, names),
  // Called for subqueries only. The variables of a subquery are local, except the projected ones.
  project: (node: Algebra.Project, names) => compileProject(node, names.inner(valuesOf(node.variables)), names),
};

const tools = (names: Names): ExistenceTools => ({ names, compile: compileNode });

function compileLeftJoin(node: Algebra.LeftJoin, names: Names): Plan {
  const [left, right] = inputsOf(node, names) as [Plan, Plan];
  const { expression } = node;
  if (!expression) return makeLeftJoin({ left, right, condition: undefined, marks: [], counter: names.unnamed() });
  const joined = { certain: unite([left.certain, right.certain]), possible: unite([left.possible, right.possible]) };
  const marks = marksOf([expression], joined, tools(names));
  const condition = withMarked(compileExpression(expression, names), marks);
  return makeLeftJoin({ left, right, condition, marks, counter: names.unnamed() });
}

function compileProject(node: Algebra.Project, own: Names, outer: Names): Plan {
  const plan = inputOf(node, own);
  const shared = new Set(valuesOf(node.variables).map((name) => outer.slot(name)));
  const keep = (slots: ReadonlySet<Slot>): Set<Slot> => new Set([...slots].filter((slot) => shared.has(slot)));
  return { ...plan, certain: keep(plan.certain), possible: keep(plan.possible), isJoinable: false } as Plan;
}

function compileValues({ variables, bindings }: Algebra.Values, names: Names): ValuesPlan {
  const slots = new Map(valuesOf(variables).map((name) => [name, names.slot(name)]));
  const rows = bindings.map((row) =>
    Object.entries(row).map(([name, term]): [Slot, TermKey] => {
      const slot = slots.get(name.replace(/^\?/, ''));
      if (slot === undefined) throw new NotCompiledError(`VALUES binds ?${name}, which it does not declare`);
      return [slot, constantToken(term)];
    }),
  );
  const certain = new Set([...slots.values()].filter((slot) => rows.every((row) => row.some(([own]) => own === slot))));
  return { kind: 'values', rows, certain, possible: new Set(slots.values()), isJoinable: true };
}

export function distinctPlan(node: Algebra.Operation, input: Plan, names: Names): Plan {
  const slots = projected(node).map((name) => names.slot(name));
  return { kind: 'distinct', input, slots, certain: input.certain, possible: input.possible, isJoinable: false };
}
