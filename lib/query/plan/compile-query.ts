/** A whole query as a plan and what becomes of its rows. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { compileNode, distinctPlan, inputOf, projected } from './compile.js';
import { constantToken } from './compile-expression.js';
import { compileSlice } from './compile-modifiers.js';
import { type Names, NotCompiledError, namesOf } from './compile-scope.js';
import { compileTemplate } from './compile-template.js';
import type { GraphForm, Plan, Slot } from './plan.js';

export interface Compiled {
  readonly plan: Plan;
  readonly width: number;
  /** What a row is read out as. */
  readonly columns: readonly (readonly [name: string, slot: Slot])[];
  /** Whether some of the rows are enough, whichever they are. */
  readonly isHasty: boolean;
  /** Of CONSTRUCT and DESCRIBE. */
  readonly graph?: GraphForm;
}

/**
 * A whole query, for one execution.
 * @param base what IRI() resolves against
 * @throws NotCompiledError
 */
export function compileQuery(root: Algebra.Operation, base = ''): Compiled {
  const names = namesOf(root, base);
  if (isSelect(root)) {
    const plan = compileRoot(root, names);
    const columns = projected(root).map((name) => [name, names.slot(name)] as const);
    return { plan, width: names.width, columns, isHasty: isHasty(plan) };
  }
  // LIMIT of a CONSTRUCT counts solutions.
  const cut = root.type === 'slice' ? (root as Algebra.Slice) : undefined;
  const form = cut?.input ?? root;
  const graph = graphForm(form, names);
  const input = inputOf(form as Algebra.Single, names);
  const plan = cut ? compileSlice(cut, input) : input;
  const isAsk = form.type === 'ask';
  return { plan, width: names.width, columns: [], isHasty: isAsk || isHasty(plan), ...(graph && { graph }) };
}

function graphForm(root: Algebra.Operation, names: Names): GraphForm | undefined {
  if (root.type === 'ask') return undefined;
  if (root.type === 'describe') {
    const { terms } = root as Algebra.Describe;
    const [variables, constants] = [terms.filter(isVariable), terms.filter((term) => !isVariable(term))];
    const slots = variables.map(({ value }) => names.slot(value));
    return { kind: 'describe', slots, tokens: constants.map(constantToken) };
  }
  if (root.type !== 'construct') throw new NotCompiledError(`A query ${root.type} is none of SPARQL 1.1`);
  return { kind: 'construct', template: compileTemplate((root as Algebra.Construct).template, names, constantToken) };
}

const isVariable = ({ termType }: Term): boolean => termType === 'Variable';

function isHasty(plan: Plan): boolean {
  if (plan.kind === 'slice') return plan.length < maxHasty && !needsAll(plan.input);
  return plan.kind === 'extend' && isHasty(plan.input);
}

/** A larger LIMIT is better served by joins of many rows. */
const maxHasty = 10_000;
const needsAll = (plan: Plan): boolean =>
  plan.kind === 'order' || plan.kind === 'group' || (plan.kind === 'extend' && needsAll(plan.input));

const modifiers = new Set(['slice', 'distinct', 'reduced']);
const isSelect = (node: Algebra.Operation): boolean =>
  node.type === 'project' || (modifiers.has(node.type) && isSelect((node as Algebra.Single).input));

/** The outermost projection gives out the names of the query itself. */
function compileRoot(node: Algebra.Operation, names: Names): Plan {
  if (node.type === 'project') return inputOf(node as Algebra.Project, names);
  if (!modifiers.has(node.type)) return compileNode(node, names);
  const input = compileRoot((node as Algebra.Single).input, names);
  if (node.type === 'slice') return compileSlice(node as Algebra.Slice, input);
  return node.type === 'distinct' ? distinctPlan(node, input, names) : input;
}
