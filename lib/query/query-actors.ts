/**
 * The actors that the query engine is composed of. The stock configuration has 200, which take 0.2 ms for a query given as algebra; these
 * take 0.02. What it would add is for sources that answer patterns alone, and nothing here evaluates operators but the source: those of
 * Comunica know no bounds.
 */
// The package's index loads its command line besides: five times as many modules.
import { QueryEngineBase } from '@comunica/actor-init-query/lib/QueryEngineBase.js';
import { ActorOptimizeQueryOperationDescribeToConstructsSubject } from '@comunica/actor-optimize-query-operation-describe-to-constructs-subject';
import { ActorQueryOperationSource } from '@comunica/actor-query-operation-source';
import { ActorQueryProcessSequential } from '@comunica/actor-query-process-sequential';
import { ActorOptimizeQueryOperation } from '@comunica/bus-optimize-query-operation';
import { KeysQueryOperation } from '@comunica/context-entries';
import { Bus, failTest, passTestVoid } from '@comunica/core';
import { MediatorCombinePipeline } from '@comunica/mediator-combine-pipeline';
import { MediatorRace } from '@comunica/mediator-race';
import type { Algebra } from '@comunica/utils-algebra';
import { assignOperationSource, getOperationSource } from '@comunica/utils-query-operation';

type OptimizeAction = Parameters<ActorOptimizeQueryOperation['run']>[0];
type OperationAction = Parameters<ActorQueryOperationSource['run']>[0];

const isUpdate = ({ type }: Algebra.Operation): boolean => type === 'deleteinsert' || type === 'compositeupdate';

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

/** The engine; its `query` takes algebra and contexts alone. */
export function composedOfActors(): QueryEngineBase {
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
  return new QueryEngineBase({ mediatorQueryProcess: race(process) } as never);
}
