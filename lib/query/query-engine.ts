/**
 * Comunica's query engine, composed of what a source that answers whole operations needs: every query, update and type search
 * enters here. It must not know what the source reads.
 */
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

/** The engine, loaded by the first that needs it: its modules take a quarter of a second. */
export function loadQueryEngine(): Promise<QueryEngine> {
  engine ??= composeEngine();
  return engine;
}

/** One after another, so that the thread that they are loaded in may do other things between them. */
const packages = [
  '@comunica/core',
  '@comunica/utils-query-operation',
  '@comunica/bus-optimize-query-operation',
  '@comunica/actor-optimize-query-operation-describe-to-constructs-subject',
  '@comunica/actor-query-operation-source',
  '@comunica/actor-query-process-sequential',
  '@comunica/mediator-combine-pipeline',
  '@comunica/mediator-race',
  '@comunica/actor-init-query',
];

async function composeEngine(): Promise<QueryEngine> {
  for (const name of packages) await import(name);
  return (await import('./query-actors.js')).composedOfActors() as unknown as QueryEngine;
}
