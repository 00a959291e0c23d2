/** Compiles triple patterns of the algebra to plans. */
import type { Algebra } from '@comunica/utils-algebra';
import type { Term } from '@rdfjs/types';
import { anyGraph } from '../parse/graph-names.js';
import { constantToken } from './compile-expression.js';
import { makeJoin } from './compile-join.js';
import type { Names } from './compile-scope.js';
import type { Pattern, Place, Plan } from './plan.js';

export function compilePattern(node: Algebra.Pattern, names: Names): Plan {
  const { subject, predicate, object, graph } = node;
  if (predicate.value === anyGraph) return graphsPlan(placeOf(graph, names));
  return patternPlan(
    [subject, predicate, object, graph].map((term) => placeOf(term, names)),
    partOf(graph),
    names,
  );
}

export const partOf = (graph: Term): Pattern['part'] => (graph.termType === 'DefaultGraph' ? 'union' : 'named');

export function placeOf(term: Term, names: Names): Place {
  if (term.termType === 'DefaultGraph') return undefined;
  if (term.termType !== 'Variable') return { token: constantToken(term) };
  return names.isIdle(term.value) ? undefined : { slot: names.slot(term.value) };
}

export function patternPlan(places: readonly Place[], part: Pattern['part'], names: Names): Plan {
  names.addPattern();
  const wanted = places.flatMap((place, index) => (place && 'slot' in place ? [index] : []));
  const slots = new Set(places.flatMap((place) => (place && 'slot' in place ? [place.slot] : [])));
  return makeJoin({ patterns: [{ places, part, wanted, slots }] });
}

function graphsPlan(graph: Place): Plan {
  const slots = new Set(graph && 'slot' in graph ? [graph.slot] : []);
  return { kind: 'graphs', graph, certain: slots, possible: slots, isJoinable: true };
}
