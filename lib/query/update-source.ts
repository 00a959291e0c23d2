/** An operation of an update as a query source of Comunica's, which hands the whole of it over. */
import type { IQuerySource } from '@comunica/types';
import { wholeOperations } from './whole-operations.js';

/** @param run does the operation that the source was made for; what Comunica makes of it on the way is not looked at */
export const updateSource = (run: () => Promise<void>): IQuerySource => ({
  referenceValue: 'urn:quadpod:graphs',
  getFilterFactor: async () => 1,
  getSelectorShape: async () => wholeOperations,
  queryBindings: updatesAlone,
  queryQuads: updatesAlone,
  queryBoolean: updatesAlone,
  queryVoid: run,
  toString: () => 'graphs',
});

const updatesAlone = (): never => {
  throw new Error('Graphs are updated here, not asked.');
};
