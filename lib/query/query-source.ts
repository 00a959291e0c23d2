/** Common parts of query sources, which accept whole operations instead of patterns. */
import type { FragmentSelectorShape, IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { BindingsFactory } from '@comunica/utils-bindings-factory';
import type { Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { UpdateStep } from './parse/read-update.js';
import { contextOf, loadQueryEngine } from './query-engine.js';

const factory = new BindingsFactory(new DataFactory() as never);

/** Returns a solution with the given variables bound, in Comunica's format. */
export const makeBindings = (entries: [Variable, Term][]): unknown => factory.bindings(entries);

/** Tells Comunica that the source accepts every operation and function. The source itself rejects unsupported ones. */
const shape = {
  type: 'disjunction',
  children: [
    { type: 'operation', operation: { operationType: 'wildcard' } },
    {
      type: 'operation',
      operation: { operationType: 'type', type: 'expression', extensionFunctions: { includes: () => true } },
    },
  ],
} as unknown as FragmentSelectorShape;

/** Creates a query source. @param answers methods of the source; all other methods throw */
export function querySource(name: string, answers: Partial<IQuerySource>): IQuerySource {
  const refuse = (): never => {
    throw new Error(`The source ${name} does not support this method.`);
  };
  return {
    referenceValue: `urn:quadpod:${name}`,
    getFilterFactor: async () => 1,
    getSelectorShape: async () => shape,
    queryBindings: refuse,
    queryBoolean: refuse,
    queryQuads: refuse,
    queryVoid: refuse,
    toString: () => name,
    ...answers,
  };
}

/** Passes an update operation through the engine to `run`, which gets the original operation, not the engine's copy. */
export async function runStep(
  { operation, base }: UpdateStep,
  run: (operation: Algebra.Operation) => Promise<void>,
): Promise<void> {
  const source = querySource('graphs', { queryVoid: () => run(operation) });
  await (await loadQueryEngine()).queryVoid(operation, contextOf(source, base));
}
