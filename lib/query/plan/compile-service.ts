/** Compiles SERVICE: the request to another endpoint, and the join with local rows. */
import type { Algebra } from '@comunica/utils-algebra';
import type { ServiceClause } from '../parse/service-clauses.js';
import { type Names, NotCompiledError } from './compile-scope.js';
import { type Plan, type ServicePlan, type Slot, unite, type ValuesPlan } from './plan.js';

/** Compiles a SERVICE. @throws NotCompiledError for a node without its clause */
export function compileService(node: Algebra.Service, names: Names): ServicePlan | ValuesPlan {
  const { clause } = node as { clause?: ServiceClause };
  if (!clause) throw new NotCompiledError('SERVICE is not supported in this position');
  const none: ReadonlySet<Slot> = new Set();
  if (clause.isDenied) return { kind: 'values', rows: [[]], certain: none, possible: none, isJoinable: true };
  const columns = clause.variables.map((name) => [name, names.slot(name)] as const);
  const possible = new Set(columns.map(([, slot]) => slot));
  // No variable is certain to be bound, because the response comes from another server.
  return { kind: 'service', clause, columns, left: undefined, certain: none, possible, isJoinable: false };
}

/** Joins a SERVICE with the rest of the join. The rest is evaluated first: if it has few rows, the request contains them. */
export function withService(service: ServicePlan, left: Plan): ServicePlan {
  const { certain, possible } = left;
  return { ...service, left, certain, possible: unite([service.possible, possible]) };
}
