/** Creates the plan of a query from the plan of its shape. */
import { isIri, isTriple, type TermKey, termOf } from '../access/terms.js';
import { partsOfTriple, type TripleKeys, tripleKey } from '../access/triple-terms.js';
import { type Constants, constantOf, rewritten } from '../parse/query-shape.js';
import { constantToken } from './compile-expression.js';
import type { Compiled } from './compile-query.js';
import type { Expression } from './plan.js';

/**
 * Replaces placeholders by constants, and compiles expressions with placeholders again.
 * @throws NotCompiledError as the compiler, for a constant that cannot be stored
 */
export function bindConstants(compiled: Compiled, constants: Constants): Compiled {
  if (constants.size === 0) return compiled;
  return rewritten(compiled, (part) => {
    if (typeof part === 'string') return boundKey(part, constants);
    if (typeof part !== 'object') return part;
    const { bind } = (part ?? {}) as Partial<Expression>;
    return bind ? { ...part, ...bind(constants), bind: undefined } : part;
  });
}

function boundKey(token: TermKey, constants: Constants): TermKey {
  if (isIri(token)) return constants.get(token) ?? token;
  // The term may be a triple term even without `<<` in the text, because of an annotation.
  if (isTriple(token))
    return tripleKey(partsOfTriple(token).map((part) => boundKey(part, constants)) as never as TripleKeys);
  return constantToken(constantOf(termOf(token), constants));
}
