/**
 * The query engine of Comunica's package for RDF/JS sources, without its skolemizer, which tells blank nodes of several sources apart: it takes
 * IRIs of a prefix of its own for blank nodes, and an IRI is an IRI here, whoever wrote it.
 */
import { QueryEngine } from '@comunica/query-sparql-rdfjs';

interface Bus {
  readonly actors: readonly {
    readonly name: string;
    readonly mediatorOptimizeQueryOperation?: { readonly bus: Bus };
  }[];
  unsubscribe(actor: Bus['actors'][number]): boolean;
}

export const stockEngine = new QueryEngine();
const { mediatorQueryProcess } = (stockEngine as unknown as { actorInitQuery: { mediatorQueryProcess: { bus: Bus } } })
  .actorInitQuery;
const process = mediatorQueryProcess.bus.actors.find((actor) => actor.mediatorOptimizeQueryOperation);
const { bus } = process!.mediatorOptimizeQueryOperation!;
if (!bus.unsubscribe(bus.actors.find(({ name }) => name.endsWith('#query-source-skolemize'))!))
  throw new Error('Comunica has no skolemizer.');
