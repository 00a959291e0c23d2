/**
 * Comunica's query engine, composed of what a source that answers whole operations needs: every query, update and type search enters here.
 */
import { setImmediate } from 'node:timers/promises';
import { KeysInitQuery, KeysQueryOperation } from '@comunica/context-entries';
import type { IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { DataFactory } from 'rdf-data-factory';
import type { BlockStream } from './block-stream.js';

/** What is asked of `QueryEngineBase`, whose streams are those that our sources made. */
export interface QueryEngine {
  queryBindings(operation: Algebra.Operation, context: QueryContext): Promise<BlockStream<unknown, unknown>>;
  queryQuads(operation: Algebra.Operation, context: QueryContext): Promise<BlockStream<unknown, unknown>>;
  queryBoolean(operation: Algebra.Operation, context: QueryContext): Promise<boolean>;
  queryVoid(operation: Algebra.Operation, context: QueryContext): Promise<void>;
}

export type QueryContext = Readonly<Record<string, unknown>>;

const dataFactory = new DataFactory();

/** A context in which one source answers. @param base what IRI() and relative references resolve against */
export const contextOf = (source: IQuerySource, base: string): QueryContext => ({
  [KeysQueryOperation.querySources.name]: [{ source }],
  [KeysInitQuery.dataFactory.name]: dataFactory,
  [KeysInitQuery.baseIRI.name]: base,
});

let engine: Promise<QueryEngine> | undefined;

/** The engine, loaded by the first that needs it: its modules take some fifty milliseconds. */
export function loadQueryEngine(): Promise<QueryEngine> {
  engine ??= composeEngine();
  return engine;
}

/** In the order of their dependencies: none takes more than some ten milliseconds after those before it. */
const packages = [
  '@comunica/core',
  '@traqula/core',
  '@traqula/rules-sparql-1-1',
  '@traqula/algebra-transformations-1-1',
  '@comunica/utils-algebra',
  '@comunica/utils-query-operation',
  '@comunica/actor-query-operation-source',
  '@comunica/actor-query-process-sequential',
];

async function composeEngine(): Promise<QueryEngine> {
  for (const name of packages) {
    await import(name);
    // The thread that they are loaded in does other things between them.
    await setImmediate();
  }
  return (await import('./query-actors.js')).composedOfActors() as unknown as QueryEngine;
}
