/**
 * Expressions of the algebra as functions of a row. What is not here is not compiled, so that Comunica answers the query. It
 * must not know plans.
 */
import type { Term } from '@rdfjs/types';
import { type ArithmeticOperator, calculate } from './arithmetic.js';
import { areEqual, isAtMost, isLess } from './comparison.js';
import { type Names, type Node, NotCompiledError } from './compile-scope.js';
import { termFunctions } from './functions.js';
import type { Evaluate, Expression, Slot } from './plan.js';
import { type Token, tokenOf } from './terms.js';
import { booleanOf, isFalse, isTrue, numberValue, toToken, toValue, truth, type Value } from './values.js';

/** @throws NotCompiledError */
export function compileExpression(node: Node, names: Names): Expression {
  const slots = new Set<Slot>();
  return { evaluate: compile(node, names, slots), slots };
}

/** A constant's token. @throws NotCompiledError for a term that the store cannot hold */
export function constantToken(term: Term): Token {
  try {
    return tokenOf(term);
  } catch (error) {
    throw new NotCompiledError((error as Error).message);
  }
}

function compile(node: Node, names: Names, slots: Set<Slot>): Evaluate {
  if (node.subType === 'term') return compileTerm(node['term'] as Term, names, slots);
  if (node.subType !== 'operator') throw new NotCompiledError(`expression ${node.subType}`);
  const operator = String(node['operator']).toLowerCase();
  const nodes = node['args'] as Node[];
  if (operator === 'bound') return compileBound(nodes[0]!, names, slots);
  const args = nodes.map((arg) => compile(arg, names, slots));
  const special = specialForms[operator];
  if (special) return special(args);
  const binary = binaryOperators[operator];
  if (binary && args.length === 2) {
    const [left, right] = args as [Evaluate, Evaluate];
    return (row) => {
      const [a, b] = [left(row), right(row)];
      return a && b && binary(a, b);
    };
  }
  if (operator === '-' && args.length === 1) return negated(args[0]!);
  const make = termFunctions[operator];
  if (!make) throw new NotCompiledError(`operator ${operator}`);
  return make(args, nodes);
}

function compileTerm(term: Term, names: Names, slots: Set<Slot>): Evaluate {
  if (term.termType !== 'Variable') {
    const value = toValue(constantToken(term));
    return () => value;
  }
  const slot = names.slot(term.value);
  slots.add(slot);
  return (row) => {
    const token = row[slot];
    return token === undefined ? undefined : toValue(token);
  };
}

function compileBound(node: Node, names: Names, slots: Set<Slot>): Evaluate {
  const term = node['term'] as Term | undefined;
  if (term?.termType !== 'Variable') throw new NotCompiledError('BOUND of no variable');
  const slot = names.slot(term.value);
  slots.add(slot);
  return (row) => truth(row[slot] !== undefined);
}

const verdict = (value: boolean | undefined): Value | undefined => (value === undefined ? undefined : truth(value));
const not = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : !value);

const arithmetic =
  (operator: ArithmeticOperator) =>
  (a: Value, b: Value): Value | undefined =>
    calculate(operator, a, b);

const binaryOperators: Readonly<Record<string, (a: Value, b: Value) => Value | undefined>> = {
  '=': (a, b) => verdict(areEqual(a, b)),
  '!=': (a, b) => verdict(not(areEqual(a, b))),
  '<': (a, b) => verdict(isLess(a, b)),
  '>': (a, b) => verdict(isLess(b, a)),
  '<=': (a, b) => verdict(isAtMost(a, b)),
  '>=': (a, b) => verdict(isAtMost(b, a)),
  '+': arithmetic('+'),
  '-': arithmetic('-'),
  '*': arithmetic('*'),
  '/': arithmetic('/'),
  sameterm: (a, b) => truth(toToken(a) === toToken(b)),
};

const negated =
  (arg: Evaluate): Evaluate =>
  (row) => {
    const value = arg(row);
    return value && calculate('*', value, numberValue(-1, 'integer'));
  };

/** Forms that go on after an error of an argument. */
const specialForms: Readonly<Record<string, (args: readonly Evaluate[]) => Evaluate>> = {
  '!': ([arg]) => {
    return (row) => verdict(not(booleanOf(arg!(row))));
  },
  '&&': ([left, right]) => {
    return (row) => {
      const a = booleanOf(left!(row));
      if (a === false) return isFalse;
      const b = booleanOf(right!(row));
      return b === false ? isFalse : a && b ? isTrue : undefined;
    };
  },
  '||': ([left, right]) => {
    return (row) => {
      const a = booleanOf(left!(row));
      if (a === true) return isTrue;
      const b = booleanOf(right!(row));
      return b === true ? isTrue : a === false && b === false ? isFalse : undefined;
    };
  },
  in: isAmong,
  notin: (args) => {
    const among = isAmong(args);
    return (row) => verdict(not(booleanOf(among(row))));
  },
  if: ([test, whenTrue, whenFalse]) => {
    return (row) => {
      const value = booleanOf(test!(row));
      return value === undefined ? undefined : value ? whenTrue!(row) : whenFalse!(row);
    };
  },
  coalesce: (args) => (row) => {
    for (const arg of args) {
      const value = arg(row);
      if (value) return value;
    }
    return undefined;
  },
};

function isAmong([needle, ...others]: readonly Evaluate[]): Evaluate {
  return (row) => {
    const value = needle!(row);
    if (!value) return undefined;
    let isOpen = false;
    for (const other of others) {
      const candidate = other(row);
      const found = candidate && areEqual(value, candidate);
      if (found) return isTrue;
      if (found === undefined) isOpen = true;
    }
    return isOpen ? undefined : isFalse;
  };
}
