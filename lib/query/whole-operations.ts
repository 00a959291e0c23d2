/** What a query source says of itself that takes whole operations. */
import type { FragmentSelectorShape } from '@comunica/types';

/** Whatever a function is called, the source takes it: one that it does not know is an error of the expression (SPARQL 1.1 17.6). */
const anyName = { includes: () => true };

/** Comunica asks whether the source takes an operation: it takes any. */
export const wholeOperations = {
  type: 'disjunction',
  children: [
    { type: 'operation', operation: { operationType: 'wildcard' } },
    { type: 'operation', operation: { operationType: 'type', type: 'expression', extensionFunctions: anyName } },
  ],
} as unknown as FragmentSelectorShape;
