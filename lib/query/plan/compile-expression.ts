/** Compiles expressions of the algebra to functions of a row. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { xsd } from '../../rdf/vocabulary.js';
import { LwsError } from '../../tools/errors.js';
import { type TermKey, termKey } from '../access/terms.js';
import type { ArithmeticOperator } from '../expressions/arithmetic.js';
import { casts } from '../expressions/casts.js';
import { areEqual, isAtMost, isLess } from '../expressions/comparison.js';
import type { Make, Makes } from '../expressions/function-forms.js';
import { functions } from '../expressions/functions.js';
import { calculateAny } from '../expressions/functions-time.js';
import { booleanOf, isFalse, isTrue, toToken, toValue, truth, type Value } from '../expressions/values.js';
import { nodesOf } from '../parse/query-scopes.js';
import { type Constants, constantOf, isPlaceholder } from '../parse/query-shape.js';
import { MalformedTermError, type Names, NotCompiledError } from './compile-scope.js';
import { type Evaluate, type Expression, type KindTest, markOfPartner, type PrefixTest, type Slot } from './plan.js';

/** Compiles an expression. @throws NotCompiledError if it is not supported */
export function compileExpression(node: Algebra.Expression, names: Names): Expression {
  const use: Use = { slots: new Set(), constants: new Map(), hasPlaceholders: false };
  const evaluate = compile(node, names, use);
  const variable = variableOf(node, names);
  const bind = (constants: Constants): Pick<Expression, 'evaluate' | 'prefix'> => ({
    evaluate: compile(node, names, { slots: new Set(), constants, hasPlaceholders: false }),
    prefix: prefixOf(node, names, constants),
  });
  return {
    evaluate,
    slots: use.slots,
    isCheap: isCheap(node),
    isPure: isPure(node),
    variable,
    kinds: kindsOf(node, names),
    prefix: prefixOf(node, names, use.constants),
    ...(use.hasPlaceholders && { bind }),
  };
}

/** Slots and placeholders found while an expression is compiled. */
interface Use {
  readonly slots: Set<Slot>;
  readonly constants: Constants;
  hasPlaceholders: boolean;
}

/** Deterministic operators whose evaluation costs less than joining a row. */
const cheap = new Set(
  '= != < > <= >= && || ! + - in notin bound sameterm isiri isblank isliteral isnumeric'.split(' '),
);

function isCheap(node: Algebra.Expression): boolean {
  if (node.subType === 'term') return true;
  const { operator, args } = node as Algebra.OperatorExpression;
  return node.subType === 'operator' && cheap.has(operator.toLowerCase()) && args.every(isCheap);
}

function variableOf(node: Algebra.Expression, names: Names): Slot | undefined {
  const { term } = node as Partial<Algebra.TermExpression>;
  return node.subType === 'term' && term?.termType === 'Variable' ? names.slot(term.value) : undefined;
}

const kindTests: ReadonlySet<string> = new Set('= != sameterm isiri isuri isblank isliteral'.split(' '));

function kindsOf(node: Algebra.Expression, names: Names): KindTest | undefined {
  const { operator = '', args = [] } = node as Partial<Algebra.OperatorExpression>;
  const slots = args.flatMap((arg) => variableOf(arg, names) ?? []);
  const name = operator.toLowerCase();
  const isTest = node.subType === 'operator' && kindTests.has(name) && slots.length === args.length;
  return isTest ? { name: name as KindTest['name'], slots } : undefined;
}

/** Returns the test of a STRSTARTS or REGEX that tests a variable or its STR for a constant prefix; otherwise `undefined`. */
function prefixOf(node: Algebra.Expression, names: Names, constants: Constants): PrefixTest | undefined {
  const { operator = '', args = [] } = node as Partial<Algebra.OperatorExpression>;
  const name = operator.toLowerCase();
  const [text, prefix] = args as [Algebra.Expression, Algebra.Expression];
  if (node.subType !== 'operator' || !/^(?:strstarts|regex)$/.test(name) || args.length !== 2) return undefined;
  const { operator: inner = '', args: own = [] } = text as Partial<Algebra.OperatorExpression>;
  const isStr = inner.toLowerCase() === 'str' && own.length === 1;
  const slot = variableOf(isStr ? own[0]! : text, names);
  const { term } = prefix as Partial<Algebra.TermExpression>;
  const value = term?.termType === 'Literal' && !term.language ? constantOf(term, constants) : undefined;
  if (slot === undefined || value?.termType !== 'Literal' || value.datatype.value !== xsd.string) return undefined;
  const found = name === 'regex' ? /^\^([^\\^$.|?*+()[\]{}]*)$/.exec(value.value)?.[1] : value.value;
  return found !== undefined && /^[ -~]+$/.test(found) ? { slot, text: found, isStr } : undefined;
}

/** Returns true if the result depends on the arguments only: there is no EXISTS, and no function that creates values. */
function isPure(node: Algebra.Expression): boolean {
  if (node.subType === 'term') return true;
  const { operator = '', args } = node as Algebra.OperatorExpression;
  const isKnown = node.subType === 'operator' || node.subType === 'named';
  return isKnown && !changing.has(operator.toLowerCase()) && args.every(isPure);
}

/** Returns a constant's token. @throws NotCompiledError if it cannot be stored, MalformedTermError if it is invalid */
export function constantToken(term: Term): TermKey {
  try {
    return termKey(term);
  } catch (error) {
    const message = (error as Error).message.replace(/\.$/, '');
    if (error instanceof LwsError && error.code === 'malformed-body') throw new MalformedTermError(message);
    throw new NotCompiledError(message);
  }
}

function compile(node: Algebra.Expression, names: Names, use: Use): Evaluate {
  switch (node.subType) {
    case 'term':
      return compileTerm((node as Algebra.TermExpression).term, names, use);
    case 'existence':
      return compileMark(node as Algebra.ExistenceExpression, names);
    case 'named':
      return compileCast(node as Algebra.NamedExpression, names, use);
    case 'operator':
      return compileCall(node as Algebra.OperatorExpression, names, use);
    default:
      throw new NotCompiledError(`An ${node.subType} expression is not allowed here`);
  }
}

/** Cached results of `unknownFunctions` by operation: `parseQuery` returns the same operation for a repeated query. */
const unknown = new WeakMap<Algebra.Operation, readonly string[]>();

/** Returns the IRIs of called functions that are unknown. */
export function unknownFunctions(root: Algebra.Operation): readonly string[] {
  const known = unknown.get(root);
  if (known) return known;
  const found = new Set<string>();
  for (const { subType, name } of nodesOf(root) as Iterable<Partial<Algebra.NamedExpression>>)
    if (subType === 'named' && !Object.hasOwn(casts, name!.value)) found.add(name!.value);
  unknown.set(root, [...found]);
  return [...found];
}

/**
 * Compiles a call by IRI. An unknown function is an error of the expression (SPARQL 1.1, 17.6), so the result is unbound.
 * @throws LwsError `bad-request` for a cast without exactly one argument
 */
function compileCast({ name, args }: Algebra.NamedExpression, names: Names, use: Use): Evaluate {
  if (!Object.hasOwn(casts, name.value)) return constant(undefined);
  if (args.length !== 1)
    throw new LwsError('bad-request', `The function <${name.value}> requires one argument, but has ${args.length}.`);
  const arg = compile(args[0]!, names, use);
  const evaluate = make(casts, name.value)([arg], names.facts);
  return constants.has(arg) ? constant(evaluate([])) : evaluate;
}

function compileCall({ operator, args: given }: Algebra.OperatorExpression, names: Names, use: Use): Evaluate {
  const name = operator.toLowerCase();
  if (name === 'bound') return compileBound(given[0]!, names, use);
  const args = given.map((arg) => compile(arg, names, use));
  const evaluate = compileOperator(name, args, names);
  return args.every((arg) => constants.has(arg)) && !changing.has(name) ? constant(evaluate([])) : evaluate;
}

/** Functions that return the same value for every row. */
const constants = new WeakSet<Evaluate>();
/** Functions whose results differ between calls. */
const changing: ReadonlySet<string> = new Set(['rand', 'uuid', 'struuid', 'bnode']);

function constant(value: Value | undefined): Evaluate {
  const evaluate = () => value;
  constants.add(evaluate);
  return evaluate;
}

function compileOperator(operator: string, args: readonly Evaluate[], names: Names): Evaluate {
  const special = specialForms[operator];
  if (special) return special(args);
  const binary = binaryOperators[operator];
  if (!binary) return make(functions, operator)(args, names.facts);
  const [left, right] = args as [Evaluate, Evaluate];
  return (row) => {
    const [a, b] = [left(row), right(row)];
    return a && b && binary(a, b);
  };
}

function make(makes: Makes, name: string): Make {
  if (!Object.hasOwn(makes, name)) throw new NotCompiledError(`The result of ${name.toUpperCase()} cannot be stored`);
  return makes[name]!;
}

function compileTerm(term: Term, names: Names, use: Use): Evaluate {
  if (term.termType === 'Quad') {
    const parts = [term.subject, term.predicate, term.object].map((each) => compileTerm(each, names, use));
    const evaluate = compileOperator('triple', parts, names);
    return parts.every((each) => constants.has(each)) ? constant(evaluate([])) : evaluate;
  }
  if (term.termType !== 'Variable') {
    use.hasPlaceholders ||= isPlaceholder(term);
    return constant(toValue(constantToken(constantOf(term, use.constants))));
  }
  const slot = names.slot(term.value);
  use.slots.add(slot);
  return (row) => {
    const token = row[slot];
    return token === undefined ? undefined : toValue(token);
  };
}

/** Compiles an EXISTS: reads its result (mark) from the row. No pattern binds this slot, so the expression does not list it. */
function compileMark(node: Algebra.ExistenceExpression, { marks }: Names): Evaluate {
  const slot = marks.get(node);
  if (slot === undefined) throw new NotCompiledError('EXISTS is not allowed here');
  const isWanted = !node.not;
  return (row) => truth((row[slot] === markOfPartner) === isWanted);
}

function compileBound(node: Algebra.Expression, names: Names, use: Use): Evaluate {
  const { term } = node as Partial<Algebra.TermExpression>;
  if (term?.termType !== 'Variable') throw new NotCompiledError('BOUND requires a variable');
  const slot = names.slot(term.value);
  use.slots.add(slot);
  return (row) => truth(row[slot] !== undefined);
}

const verdict = (value: boolean | undefined): Value | undefined => (value === undefined ? undefined : truth(value));
const not = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : !value);

const arithmetic =
  (operator: ArithmeticOperator) =>
  (a: Value, b: Value): Value | undefined =>
    calculateAny(operator, a, b);

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

/** Functional forms: operators that return a result even if an argument is an error. */
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
