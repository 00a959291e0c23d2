/** Rule 14.14, an extension of SPARQL 1.1: visibility of `?g` as the graph name for expressions within `GRAPH ?g`. */
import type { Term } from '@rdfjs/types';
import type { Algebra } from './algebra.js';
import { termsIn } from './terms.js';

/**
 * Returns true if the group has the variable in a triple or in VALUES at a place affected by an unbound variable. No expression
 * then sees the name.
 */
export function hidesName(group: Algebra, name: string): boolean {
  switch (group.op) {
    case 'leftJoin':
    case 'minus':
      return mentions(group.right, name) || hidesName(group.left, name);
    case 'slice':
    case 'group':
      return mentions(group.input, name);
    default:
      return partsOf(group, name).some((part) => hidesName(part, name));
  }
}

/** Returns true if a triple, a path, a graph name or VALUES has the variable. */
function mentions(part: Algebra, name: string): boolean {
  const isIt = (term: Term): boolean =>
    term.termType === 'Quad' ? termsIn(term).some(isIt) : term.termType === 'Variable' && term.value === name;
  if (part.op === 'bgp') return part.triples.some((each) => [each.subject, each.predicate, each.object].some(isIt));
  if (part.op === 'path') return isIt(part.subject) || isIt(part.object);
  if (part.op === 'values') return part.names.includes(name);
  if (part.op === 'graph' && isIt(part.name)) return true;
  return partsOf(part, name).some((each) => mentions(each, name));
}

/** Returns the operands that share the variable. A subquery that does not project it has a distinct one. */
function partsOf(part: Algebra, name: string): readonly Algebra[] {
  if ('left' in part) return [part.left, part.right];
  if (part.op === 'project' && !part.names.includes(name)) return [];
  return 'input' in part ? [part.input] : [];
}
