/** What a query source says of itself that takes whole operations. */
import type { FragmentSelectorShape } from '@comunica/types';

/** Comunica asks whether the source takes an operation: it takes any. */
export const wholeOperations = {
  type: 'operation',
  operation: { operationType: 'wildcard' },
} as unknown as FragmentSelectorShape;
