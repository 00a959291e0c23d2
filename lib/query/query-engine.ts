/**
 * Comunica's query engine, which runs every query, update and type search: in query threads the engine of the package,
 * elsewhere a composition. Both run the actors of `pipeline`.
 */
import { setImmediate } from 'node:timers/promises';
import { KeysInitQuery, KeysQueryOperation } from '@comunica/context-entries';
import { ActionContext } from '@comunica/core';
import type { IActionContext, IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { DataFactory } from 'rdf-data-factory';
import type { BlockStream } from './block-stream.js';

/** Subset of `QueryEngineBase`; the streams are our `BlockStream`s. */
export interface QueryEngine {
  queryBindings(operation: Algebra.Operation, context: QueryContext): Promise<BlockStream<unknown, unknown>>;
  queryQuads(operation: Algebra.Operation, context: QueryContext): Promise<BlockStream<unknown, unknown>>;
  queryBoolean(operation: Algebra.Operation, context: QueryContext): Promise<boolean>;
  queryVoid(operation: Algebra.Operation, context: QueryContext): Promise<void>;
}

export type QueryContext = IActionContext;

const context: IActionContext = new ActionContext().set(KeysInitQuery.dataFactory, new DataFactory());

/** Returns a context with a single source. @param base base IRI for IRI() and relative references */
export const contextOf = (source: IQuerySource, base: string): QueryContext =>
  context.set(KeysQueryOperation.querySources, [{ source }]).set(KeysInitQuery.baseIRI, base);

/** Loads the engine of `@comunica/query-sparql-rdfjs`, for query threads. Needs about 35 MB, and 0.2 ms more per query. */
export const loadStockEngine = async (): Promise<QueryEngine> =>
  (await import('./stock-engine.js')).stockEngine as unknown as QueryEngine;

let engine: Promise<QueryEngine> | undefined;

/** Loads the composition of the actors that a source of whole operations needs, in 50 ms. Later calls return the same one. */
export function loadQueryEngine(): Promise<QueryEngine> {
  engine ??= composeEngine();
  return engine;
}

/** Packages in order of dependency, so that each takes at most about 10 ms to load. */
const packages = [
  () => import('@comunica/core'),
  () => import('@traqula/core'),
  () => import('@traqula/rules-sparql-1-1'),
  () => import('@traqula/algebra-transformations-1-1'),
  () => import('@comunica/utils-algebra'),
  () => import('@comunica/utils-query-operation'),
  () => import('@comunica/actor-optimize-query-operation-assign-sources-exhaustive'),
  () => import('@comunica/actor-query-operation-source'),
  () => import('@comunica/actor-query-process-sequential'),
];

async function composeEngine(): Promise<QueryEngine> {
  for (const load of packages) {
    await load();
    // Let the event loop run before the next package is loaded.
    await setImmediate();
  }
  return (await import('./query-actors.js')).composedOfActors() as unknown as QueryEngine;
}
