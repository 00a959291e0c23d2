/**
 * The query engine of `@comunica/query-sparql-rdfjs`, reduced to the actors of `pipeline`. The other actors are removed:
 * optimizers rewrite operations for sources that only answer patterns, and `filter-pushdown` 5.4.0 changes results. The
 * skolemizer treats IRIs with its own prefix as blank nodes. Operators other than `source` have no limits.
 */
import { QueryEngine } from '@comunica/query-sparql-rdfjs';
import { type Pipeline, pipeline } from './pipeline.js';

interface Actor {
  readonly name: string;
}

interface ActorBus {
  readonly actors: readonly Actor[];
  unsubscribe(actor: Actor): boolean;
}

type Mediators = Partial<Record<'mediatorOptimizeQueryOperation' | 'mediatorQueryOperation', { bus: ActorBus }>>;

const shortName = ({ name }: Actor): string => name.slice(name.indexOf('#') + 1);

/** Unsubscribes all actors of a bus except `names`. @throws Error if one of these actors is missing, after an upgrade */
export function keepActors(bus: ActorBus | undefined, names: readonly string[]): readonly string[] {
  const missing = names.filter((name) => !bus?.actors.some((actor) => shortName(actor) === name));
  if (!bus || missing.length > 0) throw new Error(`Comunica's engine has no actor named ${missing.join(', ')}.`);
  for (const actor of [...bus.actors])
    if (!names.includes(shortName(actor))) while (bus.actors.includes(actor)) bus.unsubscribe(actor);
  return bus.actors.map(shortName);
}

export const stockEngine = new QueryEngine();
const { mediatorQueryProcess } = (
  stockEngine as unknown as { actorInitQuery: { mediatorQueryProcess: { bus: { actors: readonly Mediators[] } } } }
).actorInitQuery;
const process = mediatorQueryProcess.bus.actors.find((actor) => actor.mediatorOptimizeQueryOperation);

/** Remaining actors, in order of execution. */
export const stockPipeline: Pipeline = {
  optimizers: keepActors(process?.mediatorOptimizeQueryOperation?.bus, pipeline.optimizers),
  operators: keepActors(process?.mediatorQueryOperation?.bus, pipeline.operators),
};
