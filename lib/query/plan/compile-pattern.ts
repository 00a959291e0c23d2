/** Patterns of the algebra as plans. It must not know groups or modifiers. */
import type { Term } from '@rdfjs/types';
import { constantToken } from './compile-expression.js';
import { makeJoin } from './compile-join.js';
import type { Names, Node } from './compile-scope.js';
import type { Pattern, Place, Plan } from './plan.js';

export function compilePattern(node: Node, names: Names, variables?: Set<string>): Plan {
  const places = ['subject', 'predicate', 'object', 'graph'].map((position) =>
    placeOf(node[position] as Term, names, variables),
  );
  return patternPlan(places, partOf(node));
}

export const partOf = (node: Node): Pattern['part'] =>
  (node['graph'] as Term).termType === 'DefaultGraph' ? 'union' : 'named';

export function placeOf(term: Term, names: Names, variables?: Set<string>): Place {
  if (term.termType === 'DefaultGraph') return undefined;
  if (term.termType !== 'Variable') return { token: constantToken(term) };
  variables?.add(term.value);
  return names.isIdle(term.value) ? undefined : { slot: names.slot(term.value) };
}

export function patternPlan(places: readonly Place[], part: Pattern['part']): Plan {
  const wanted = places.flatMap((place, index) => (place && 'slot' in place ? [index] : []));
  return makeJoin({ patterns: [{ places, part, wanted }] });
}
