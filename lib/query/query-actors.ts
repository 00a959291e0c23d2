/**
 * The actors that the query engine is composed of. The stock configuration has 200, which take 0.2 ms for a query given as algebra; these
 * take 0.01. What it would add is for sources that answer patterns alone, and nothing here evaluates operators but the source: those of
 * Comunica know no bounds.
 */
// The package's index loads its command line besides: five times as many modules.
import { QueryEngineBase } from '@comunica/actor-init-query/lib/QueryEngineBase.js';
import { ActorOptimizeQueryOperationAssignSourcesExhaustive } from '@comunica/actor-optimize-query-operation-assign-sources-exhaustive';
import { ActorOptimizeQueryOperationDescribeToConstructsSubject } from '@comunica/actor-optimize-query-operation-describe-to-constructs-subject';
import { ActorQueryOperationSource } from '@comunica/actor-query-operation-source';
import { ActorQueryProcessSequential } from '@comunica/actor-query-process-sequential';
import { KeysQueryOperation } from '@comunica/context-entries';
import { Bus } from '@comunica/core';
import type { Algebra } from '@comunica/utils-algebra';
import { assignOperationSource, getOperationSource } from '@comunica/utils-query-operation';
import type { Pipeline } from './pipeline.js';

type OptimizeAction = Parameters<ActorOptimizeQueryOperationDescribeToConstructsSubject['run']>[0];
type OperationAction = Parameters<ActorQueryOperationSource['run']>[0];

const isUpdate = ({ type }: Algebra.Operation): boolean => type === 'deleteinsert' || type === 'compositeupdate';

/** Stands for a mediator where there is nothing to choose: a race of one actor takes longer than the actor. */
const always = (mediate: (action: never) => unknown) => ({ mediate }) as never;

const actor = (name: string) => ({
  name,
  bus: new Bus<never, never, never, never>({ name }) as never,
  busFailMessage: '',
});
// DESCRIBE returns quads by it.
const describe = new ActorOptimizeQueryOperationDescribeToConstructsSubject(actor('describe-to-constructs-subject'));
const assign = new ActorOptimizeQueryOperationAssignSourcesExhaustive(actor('assign-sources-exhaustive'));
const whole = new ActorQueryOperationSource(actor('source'));

/** The actors of the composition, in the order in which they run. */
export const composedPipeline: Pipeline = {
  optimizers: [describe.name, assign.name],
  operators: [whole.name],
};

/** The engine; its `query` takes algebra and contexts alone. */
export function composedOfActors(): QueryEngineBase {
  // The actors look for what they are for in every node of an operation, which is long in an update of data. Queries come again.
  const others = new WeakSet<Algebra.Operation>();
  const described = async (action: OptimizeAction) => {
    const { operation } = action;
    if (isUpdate(operation) || others.has(operation)) return action;
    if (!(await describe.test(action)).isFailed()) return describe.run(action);
    others.add(operation);
    return action;
  };
  const process = new ActorQueryProcessSequential({
    ...actor('sequential'),
    // Contexts come from `contextOf`, and queries as algebra.
    mediatorContextPreprocess: always(async (action: unknown) => action),
    mediatorQueryParse: undefined as never,
    mediatorMergeBindingsContext: undefined as never,
    mediatorOptimizeQueryOperation: always(async (action: OptimizeAction) => {
      if (!isUpdate(action.operation)) return assign.run(await described(action));
      const { operation, context } = action;
      const [source] = context.getSafe(KeysQueryOperation.querySources);
      return { operation: assignOperationSource(operation, source!), context };
    }),
    mediatorQueryOperation: always(async (action: OperationAction) => {
      const { operation, context } = action;
      if (!isUpdate(operation)) return whole.run(action);
      const { source } = getOperationSource(operation)!;
      return { type: 'void', execute: () => source.queryVoid(operation, context) };
    }),
  });
  return new QueryEngineBase({ mediatorQueryProcess: always((action) => process.run(action)) } as never);
}
