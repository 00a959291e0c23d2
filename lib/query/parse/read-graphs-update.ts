/**
 * An update of named graphs, read and guarded: every change names its graph, since the default graph is a union of graphs. It must not
 * know who asks, nor run anything.
 */
import type { Algebra } from '@comunica/utils-algebra';
import { LwsError } from '../../errors.js';
import { nameGraphs } from './graph-names.js';
import { assertGraphNames, nodesOf } from './query-scopes.js';
import { hasDatasetClause, type ReadUpdate, readSteps } from './read-update.js';

export interface ReadGraphsUpdate extends ReadUpdate {
  /** An operation says which graphs it is about: USING, USING NAMED or WITH. */
  readonly namesDataset: boolean;
}

/**
 * Parses an update.
 * @throws LwsError `malformed-body` for a syntax error; `bad-request` for SERVICE, and for what changes the default graph or all graphs
 */
export async function readGraphsUpdate(written: string, base: string): Promise<ReadGraphsUpdate> {
  let namesDataset = false;
  const update = await readSteps(written, base, (syntax, parse) => {
    for (const node of nodesOf(syntax, () => true)) {
      if (node['subType'] === 'service') throw new LwsError('bad-request', 'SERVICE is not possible in an update.');
      namesDataset ||= hasDatasetClause(node);
    }
    nameGraphs(syntax, parse);
    assertGraphNames(syntax);
  });
  for (const { operation } of update.steps) assertNamed(operation);
  return { ...update, namesDataset };
}

interface Operands {
  readonly source?: unknown;
  readonly destination?: unknown;
}

function assertNamed(operation: Algebra.Operation): void {
  const { type } = operation;
  if (type === 'deleteinsert') {
    const { delete: removed = [], insert = [] } = operation as Algebra.DeleteInsert;
    for (const { graph } of [...removed, ...insert]) if (graph.termType === 'DefaultGraph') throw unnamed();
  } else if (type !== 'nop') {
    const { source, destination } = operation as Operands;
    const operands = /^(?:clear|drop|create)$/.test(type) ? [source] : [source, destination];
    if (operands.some((operand) => typeof operand !== 'object')) throw unnamed();
  }
}

const unnamed = (): LwsError =>
  new LwsError(
    'bad-request',
    'The update changes the default graph, which is the union of all graphs that you may read here. Name each graph that is ' +
      'changed, with GRAPH, WITH or INTO: it is the IRI of a resource. DEFAULT, NAMED and ALL are not possible.',
  );
