/** What the query sources have in common: each takes whole operations, and gives what it is made with. */
import type { FragmentSelectorShape, IQuerySource } from '@comunica/types';
import type { Algebra } from '@comunica/utils-algebra';
import { BindingsFactory } from '@comunica/utils-bindings-factory';
import type { Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import type { UpdateStep } from './parse/read-update.js';
import { contextOf, loadQueryEngine } from './query-engine.js';

const factory = new BindingsFactory(new DataFactory() as never);

/** A solution with those variables bound, as Comunica hands it on. */
export const makeBindings = (entries: [Variable, Term][]): unknown => factory.bindings(entries);

/** Comunica asks whether the source takes an operation: it takes any, whatever its functions are called, and refuses what it cannot answer. */
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

/** A source of that name. @param answers its methods; the others refuse, since nobody asks them */
export function querySource(name: string, answers: Partial<IQuerySource>): IQuerySource {
  const refuse = (): never => {
    throw new Error(`The source ${name} is not asked for this.`);
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

/** Has the engine run an operation as a whole. The form that the engine gives to the operation is not used. */
export async function runStep(
  { operation, base }: UpdateStep,
  run: (operation: Algebra.Operation) => Promise<void>,
): Promise<void> {
  const source = querySource('graphs', { queryVoid: () => run(operation) });
  await (await loadQueryEngine()).queryVoid(operation, contextOf(source, base));
}
