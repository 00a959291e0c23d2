/** Evaluates expressions: the functional forms of SPARQL 1.1, 17.4.1, and function calls. */
import type { Term } from '@rdfjs/types';
import type { Algebra, Expression } from './algebra.js';
import { callFunction } from './functions.js';
import { areEqual, effectiveBoolean } from './operators.js';
import { boolean, ExpressionError, type Solution } from './terms.js';

export interface ExpressionScope {
  readonly solution: Solution;
  /** Base IRI of the query. */
  readonly base: string;
  /** Returns true if the pattern has a solution after the substitution of this one. */
  readonly exists: (pattern: Algebra) => boolean;
}

/** Returns the effective boolean value of a condition. An error counts as false (17.2). */
export function holds(condition: Expression, scope: ExpressionScope): boolean {
  try {
    return effectiveBoolean(evaluateExpression(condition, scope));
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** @throws ExpressionError */
export function evaluateExpression(expression: Expression, scope: ExpressionScope): Term {
  if (expression.kind === 'term') return expression.term;
  if (expression.kind === 'exists') return boolean(scope.exists(expression.pattern) !== expression.isNegated);
  if (expression.kind === 'variable') {
    const term = scope.solution.get(expression.name);
    if (!term) throw new ExpressionError(`Unbound variable: ${expression.name}`);
    return term;
  }
  const form = forms[expression.name];
  if (form) return form(expression.args, scope);
  return callFunction(
    expression.name,
    expression.args.map((arg) => evaluateExpression(arg, scope)),
    scope,
  );
}

type Form = (args: readonly Expression[], scope: ExpressionScope) => Term;

/** Returns the value, or the error in its place. */
function attempt<T>(evaluate: () => T): T | ExpressionError {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof ExpressionError) return error;
    throw error;
  }
}

/** 17.2: `||` and `&&` ignore an error of one side if the other side decides. */
const logical =
  (decisive: boolean): Form =>
  (args, scope) => {
    const sides = args.map((arg) => attempt(() => effectiveBoolean(evaluateExpression(arg, scope))));
    if (sides.includes(decisive)) return boolean(decisive);
    const error = sides.find((side) => side instanceof ExpressionError);
    if (error) throw error;
    return boolean(!decisive);
  };

/** 17.4.1.9: an error of a comparison counts only if no other member is equal. */
const isIn: Form = ([first, ...members], scope) => {
  const value = evaluateExpression(first!, scope);
  const found = members.map((member) => attempt(() => areEqual(value, evaluateExpression(member, scope))));
  if (found.includes(true)) return boolean(true);
  const error = found.find((each) => each instanceof ExpressionError);
  if (error) throw error;
  return boolean(false);
};

const forms: Readonly<Record<string, Form>> = {
  '||': logical(true),
  '&&': logical(false),
  in: isIn,
  notin: (args, scope) => boolean(!effectiveBoolean(isIn(args, scope))),
  bound: ([of], { solution }) => boolean(of!.kind === 'term' || (of!.kind === 'variable' && solution.has(of!.name))),
  if: ([condition, yes, no], scope) =>
    evaluateExpression(effectiveBoolean(evaluateExpression(condition!, scope)) ? yes! : no!, scope),
  coalesce: (args, scope) => {
    for (const arg of args) {
      const value = attempt(() => evaluateExpression(arg, scope));
      if (!(value instanceof ExpressionError)) return value;
    }
    throw new ExpressionError('COALESCE without a value.');
  },
};
