/** The query engine of Comunica's package for RDF/JS sources, as it comes but for one actor. */
import { QueryEngine } from '@comunica/query-sparql-rdfjs';

interface Actor {
  readonly name: string;
  /** What a mediator chooses from; Comunica declares it protected. */
  readonly mediatorOptimizeQueryOperation?: { readonly bus: Bus };
}

interface Bus {
  readonly actors: readonly Actor[];
  unsubscribe(actor: Actor): boolean;
}

/**
 * The engine without its skolemizer, which tells blank nodes of several sources apart: it takes IRIs of a prefix of its own for blank nodes, and
 * an IRI is an IRI here, whoever wrote it.
 * @throws Error when the engine is not composed as it was
 */
export function stockEngine(): QueryEngine {
  const engine = new QueryEngine();
  const { bus } = (engine as unknown as { actorInitQuery: { mediatorQueryProcess: { bus: Bus } } }).actorInitQuery
    .mediatorQueryProcess;
  const optimizers = bus.actors.find((actor) => actor.mediatorOptimizeQueryOperation)?.mediatorOptimizeQueryOperation;
  const skolemizer = optimizers?.bus.actors.find(({ name }) => name.endsWith('#query-source-skolemize'));
  if (!skolemizer || !optimizers?.bus.unsubscribe(skolemizer)) throw new Error('Comunica has no skolemizer.');
  return engine;
}
