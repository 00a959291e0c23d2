/** Substitution of EXISTS (SPARQL 1.1, 18.6): replaces bound variables by their terms. */
import type { Term } from '@rdfjs/types';
import type { Algebra, Expression } from './algebra.js';
import { mapTerm, type Solution, termsIn, Undefined } from './terms.js';

export function substitute(algebra: Algebra, solution: Solution): Algebra {
  const of = (input: Algebra): Algebra => substitute(input, solution);
  const term = (pattern: Term): Term =>
    mapTerm(pattern, (each) => (each.termType === 'Variable' ? (solution.get(each.value) ?? each) : each));
  const expression = (each: Expression): Expression => inExpression(each, solution);
  switch (algebra.op) {
    case 'bgp': {
      const triples = algebra.triples.map(({ subject, predicate, object }) => ({
        subject: term(subject),
        predicate: term(predicate),
        object: term(object),
      }));
      return { op: 'bgp', triples };
    }
    case 'path':
      return { ...algebra, subject: term(algebra.subject), object: term(algebra.object) };
    case 'hideBlanks':
      return { ...algebra, input: of(algebra.input) };
    case 'join':
    case 'union':
    case 'minus':
      return { ...algebra, left: of(algebra.left), right: of(algebra.right) };
    case 'leftJoin':
      return {
        ...algebra,
        left: of(algebra.left),
        right: of(algebra.right),
        conditions: algebra.conditions.map(expression),
      };
    case 'filter':
      return { ...algebra, input: of(algebra.input), conditions: algebra.conditions.map(expression) };
    case 'extend':
      assertFree([algebra.name], solution);
      return { ...algebra, input: of(algebra.input), expression: expression(algebra.expression) };
    case 'graph':
      return { ...algebra, name: term(algebra.name), input: of(algebra.input) };
    case 'values':
      assertFree(algebra.names, solution);
      return algebra;
    default:
      // A subquery: its variables are distinct from those outside unless it projects them.
      assertFree(namesIn(algebra), solution);
      return algebra;
  }
}

/** A term is not allowed in place of an assigned or projected variable, and 18.6 does not define the result. */
function assertFree(names: readonly string[], solution: Solution): void {
  const name = names.find((each) => solution.has(each));
  if (name !== undefined) throw new Undefined(`Substitution of ${name}, assigned by the pattern of EXISTS (18.6)`);
}

/** A blank node is a constant here, not a variable, as in all implementations. */
function inExpression(expression: Expression, solution: Solution): Expression {
  if (expression.kind === 'variable') {
    const term = solution.get(expression.name);
    return term ? { kind: 'term', term } : expression;
  }
  if (expression.kind === 'call')
    return { ...expression, args: expression.args.map((arg) => inExpression(arg, solution)) };
  if (expression.kind === 'exists') return { ...expression, pattern: substitute(expression.pattern, solution) };
  return expression;
}

/** Returns all variables of a part of a query. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value instanceof Map) return [...value.keys()] as string[];
  const node = value as { termType?: string; value?: string; kind?: string; name?: unknown; as?: string };
  if (node.termType === 'Quad') return termsIn(value as Term).flatMap(namesIn);
  if (node.termType !== undefined) return node.termType === 'Variable' ? [node.value!] : [];
  const own = typeof node.name === 'string' ? [node.name] : [];
  return [...own, ...(node.as ? [node.as] : []), ...Object.values(value).flatMap(namesIn)];
}
