/** Compiles triple patterns of the algebra to plans. */
import type { Algebra } from '@comunica/utils-algebra';
import type { BaseQuad, Term } from '@rdfjs/types';
import { anyGraph } from '../parse/graph-names.js';
import { constantToken } from './compile-expression.js';
import { makeJoin, withTriples } from './compile-join.js';
import type { Names } from './compile-scope.js';
import type { Pattern, Place, Plan, Slot, TripleTerm } from './plan.js';

export function compilePattern(node: Algebra.Pattern, names: Names): Plan {
  const { subject, predicate, object, graph } = node;
  if (predicate.value === anyGraph) return graphsPlan(placeOf(graph, names, []));
  const triples: TripleTerm[] = [];
  const places = [subject, predicate, object, graph].map((term) => placeOf(term, names, triples));
  return withTriples(patternPlan(places, partOf(graph), names), triples);
}

export const partOf = (graph: Term): Pattern['part'] => (graph.termType === 'DefaultGraph' ? 'union' : 'named');

/** Returns the position of a term in a pattern. @param triples list to which triple terms with variables are added */
export function placeOf(term: Term, names: Names, triples: TripleTerm[]): Place {
  if (term.termType === 'DefaultGraph') return undefined;
  if (term.termType === 'Quad' && hasVariables(term)) return { slot: tripleSlot(term, names, triples) };
  if (term.termType !== 'Variable') return { token: constantToken(term) };
  return names.isIdle(term.value) ? undefined : { slot: names.slot(term.value) };
}

const hasVariables = ({ subject, predicate, object }: BaseQuad): boolean =>
  [subject, predicate, object].some((term) =>
    term.termType === 'Quad' ? hasVariables(term) : term.termType === 'Variable',
  );

function tripleSlot({ subject, predicate, object }: BaseQuad, names: Names, triples: TripleTerm[]): Slot {
  names.addPattern();
  const placed = (term: Term): Place => placeOf(term, names, triples);
  const places = [placed(subject), placed(predicate), placed(object)] as const;
  const slot = names.unnamed();
  triples.push({ slot, places, slots: slotsOf(places) });
  return slot;
}

const slotsOf = (places: readonly Place[]): Set<Slot> =>
  new Set(places.flatMap((place) => (place && 'slot' in place ? [place.slot] : [])));

export function patternPlan(places: readonly Place[], part: Pattern['part'], names: Names): Plan {
  names.addPattern();
  const wanted = places.flatMap((place, index) => (place && 'slot' in place ? [index] : []));
  return makeJoin({ patterns: [{ places, part, wanted, slots: slotsOf(places) }] });
}

function graphsPlan(graph: Place): Plan {
  const slots = new Set(graph && 'slot' in graph ? [graph.slot] : []);
  return { kind: 'graphs', graph, certain: slots, possible: slots, isJoinable: true };
}
