/**
 * Query engine of three actors of Comunica, which take 0.01 ms for a query. The 200 actors of the stock configuration take 0.2
 * ms: most are for sources that only answer patterns. The source evaluates all operators, as those of Comunica have no limits.
 */
// Not the index of the package, which also loads its command line: five times as many modules.
import { QueryEngineBase } from '@comunica/actor-init-query/lib/QueryEngineBase.js';
import { ActorOptimizeQueryOperationAssignSourcesExhaustive } from '@comunica/actor-optimize-query-operation-assign-sources-exhaustive';
import { ActorOptimizeQueryOperationDescribeToConstructsSubject } from '@comunica/actor-optimize-query-operation-describe-to-constructs-subject';
import { ActorQueryOperationSource } from '@comunica/actor-query-operation-source';
import { ActorQueryProcessSequential } from '@comunica/actor-query-process-sequential';
import { KeysQueryOperation } from '@comunica/context-entries';
import { Bus } from '@comunica/core';
import type { IActionContext, IQuerySourceWrapper } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { assignOperationSource, getOperationSource } from '@comunica/utils-query-operation';
import type { Pipeline } from './pipeline.js';

type OptimizeAction = Parameters<ActorOptimizeQueryOperationDescribeToConstructsSubject['run']>[0];
type ProcessAction = { readonly query: Algebra.Operation; readonly context: IActionContext };
type OperationAction = Parameters<ActorQueryOperationSource['run']>[0];

const isUpdate = ({ type }: Algebra.Operation): boolean => type === 'deleteinsert' || type === 'compositeupdate';

/** Creates a mediator that always calls one actor: Comunica's selection among actors takes longer than the actor itself. */
const always = (mediate: (action: never) => unknown) => ({ mediate }) as never;

const actor = (name: string) => ({
  name,
  bus: new Bus<never, never, never, never>({ name }) as never,
  busFailMessage: '',
});
// Rewrites DESCRIBE to CONSTRUCT.
const describe = new ActorOptimizeQueryOperationDescribeToConstructsSubject(actor('describe-to-constructs-subject'));
const assign = new ActorOptimizeQueryOperationAssignSourcesExhaustive(actor('assign-sources-exhaustive'));
const whole = new ActorQueryOperationSource(actor('source'));

/** Actors of the composition, in order of execution. */
export const composedPipeline: Pipeline = {
  optimizers: [describe.name, assign.name],
  operators: [whole.name],
};

/** Returns the engine of three actors. Its method `query` accepts only algebra and contexts of `contextOf`. */
export function composedOfActors(): QueryEngineBase {
  // Skip the DESCRIBE actor for updates and known queries, because it visits every node of an operation.
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
    // Contexts are already complete (`contextOf`), and queries are already parsed to algebra.
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
  // The other actors copy and visit the operation. If it is cached, their result depends only on the source: call the source.
  const types = new WeakMap<Algebra.Operation, 'bindings' | 'boolean'>();
  const processed = async (action: ProcessAction): Promise<{ readonly result: unknown }> => {
    const { query, context } = action;
    const type = types.get(query);
    if (type) {
      const [{ source }] = context.getSafe(KeysQueryOperation.querySources) as [IQuerySourceWrapper];
      if (type === 'boolean')
        return { result: { type, context, execute: () => source.queryBoolean(query as Algebra.Ask, context) } };
      return { result: { type, context, bindingsStream: source.queryBindings(query, context) } };
    }
    const { result } = await process.run(action as never);
    if ('type' in result && (result.type === 'bindings' || result.type === 'boolean')) types.set(query, result.type);
    return { result };
  };
  return new QueryEngineBase({ mediatorQueryProcess: always(processed) } as never);
}
