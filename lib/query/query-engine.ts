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

const isUpdate = ({ type }: Algebra.Operation): boolean => type === 'deleteinsert' || type === 'compositeupdate';

let engine: Promise<QueryEngine> | undefined;

/** The engine, loaded by the first that needs it: its modules take a quarter of a second. */
export function loadQueryEngine(): Promise<QueryEngine> {
  engine ??= composeEngine();
  return engine;
}

/**
 * The stock configuration has 200 actors, which take 0.2 ms for a query given as algebra; these take 0.02. What it would add is for
 * sources that answer patterns alone, and nothing here evaluates operators but the source: those of Comunica know no bounds.
 */
async function composeEngine(): Promise<QueryEngine> {
  // One after another, so that the thread that they are loaded in may do other things between them.
  const { Bus, failTest, passTestVoid } = await import('@comunica/core');
  const { assignOperationSource, getOperationSource } = await import('@comunica/utils-query-operation');
  const { ActorOptimizeQueryOperation } = await import('@comunica/bus-optimize-query-operation');
  const { ActorOptimizeQueryOperationDescribeToConstructsSubject } = await import(
    '@comunica/actor-optimize-query-operation-describe-to-constructs-subject'
  );
  const { ActorQueryOperationSource } = await import('@comunica/actor-query-operation-source');
  const { ActorQueryProcessSequential } = await import('@comunica/actor-query-process-sequential');
  const { MediatorCombinePipeline } = await import('@comunica/mediator-combine-pipeline');
  const { MediatorRace } = await import('@comunica/mediator-race');
  const { QueryEngineBase } = await import('@comunica/actor-init-query');
  type OptimizeAction = Parameters<InstanceType<typeof ActorOptimizeQueryOperation>['run']>[0];
  type OperationAction = Parameters<InstanceType<typeof ActorQueryOperationSource>['run']>[0];

  /** The whole operation is the source's. */
  class ActorOptimizeQueryOperationAssignWhole extends ActorOptimizeQueryOperation {
    override async test() {
      return passTestVoid();
    }
    override async run({ operation, context }: OptimizeAction) {
      const [source] = context.getSafe(KeysQueryOperation.querySources);
      return { operation: assignOperationSource(operation, source!), context };
    }
  }

  // The stock actors look for what they are for in every node of an operation, which is long in an update of data.
  const noUpdate = failTest('An update has no DESCRIBE.');
  class ActorOptimizeQueryOperationDescribe extends ActorOptimizeQueryOperationDescribeToConstructsSubject {
    override test(action: OptimizeAction) {
      return isUpdate(action.operation) ? Promise.resolve(noUpdate) : super.test(action);
    }
  }
  class ActorQueryOperationWhole extends ActorQueryOperationSource {
    override async run(action: OperationAction) {
      const { operation, context } = action;
      if (!isUpdate(operation)) return super.run(action);
      const { source } = getOperationSource(operation)!;
      return { type: 'void' as const, execute: () => source.queryVoid(operation, context) };
    }
  }

  const bus = (name: string) => new Bus<never, never, never, never>({ name });
  const [optimize, operation, process] = [bus('optimize'), bus('operation'), bus('process')];
  const race = (of: typeof operation) => new MediatorRace({ name: 'race', bus: of }) as never;
  const actor = (name: string, of: typeof operation) => ({ name, bus: of as never, busFailMessage: '' });
  // So that DESCRIBE gives quads; what it is rewritten to does not matter to a source that has read the query itself.
  new ActorOptimizeQueryOperationDescribe(actor('describe', optimize));
  new ActorOptimizeQueryOperationAssignWhole(actor('assign', optimize));
  new ActorQueryOperationWhole(actor('source', operation));
  new ActorQueryProcessSequential({
    ...actor('sequential', process),
    // Contexts come from `contextOf`, and queries as algebra.
    mediatorContextPreprocess: { mediate: async (action: unknown) => action } as never,
    mediatorQueryParse: undefined as never,
    mediatorMergeBindingsContext: undefined as never,
    mediatorOptimizeQueryOperation: new MediatorCombinePipeline({
      name: 'pipeline',
      bus: optimize,
      filterFailures: true,
    }) as never,
    mediatorQueryOperation: race(operation),
  });
  return new QueryEngineBase({ mediatorQueryProcess: race(process) } as never) as unknown as QueryEngine;
}
