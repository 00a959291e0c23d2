/** SERVICE as a plan: what another endpoint is asked, and what is had before it is. */
import type { Algebra } from '@comunica/utils-algebra';
import type { ServiceClause } from '../parse/service-clauses.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import { type Plan, type ServicePlan, type Slot, unite, type ValuesPlan } from './plan.js';

/** @throws NotCompiledError for a node without the clause that it stands for */
export function compileService(node: Algebra.Service, names: Names): ServicePlan | ValuesPlan {
  const { clause } = node as { clause?: ServiceClause };
  if (!clause) throw new NotCompiledError('SERVICE is not possible in this place');
  const none: ReadonlySet<Slot> = new Set();
  if (clause.isDenied) return { kind: 'values', rows: [[]], certain: none, possible: none, isJoinable: true };
  const columns = clause.variables.map((name) => [name, names.slot(name)] as const);
  const possible = new Set(columns.map(([, slot]) => slot));
  // Nothing is certain: what comes back is another server's word.
  return { kind: 'service', clause, columns, left: undefined, certain: none, possible, isJoinable: false };
}

/** The rest of the join comes first, since few rows of it go along with what is asked. */
export function withService(service: ServicePlan, left: Plan): ServicePlan {
  const { certain, possible } = left;
  return { ...service, left, certain, possible: unite([service.possible, possible]) };
}
