/** The nodes of a graph, its subjects and objects, as paths without a step ask for them (SPARQL 1.1 18.4). It must not walk. */
import type { Terms } from '../access/key-reader.js';
import type { TermKey } from '../access/terms.js';
import { type ClosurePlan, type Place, type Row, termAt } from '../plan/plan.js';
import { type Execution, recall } from './execution.js';

interface GraphNodes {
  /** Whether a path may take no step at the ends that a row has: at a term always, at a variable's where it is a node. */
  mayBegin(row: Row): Promise<boolean>;
}

export function graphNodes(execution: Execution, plan: ClosurePlan): GraphNodes {
  const { from, to, graph, part, needsNodes, terms } = plan;
  const known = recall(execution, { part: plan, as: 'nodes' }, () => new Map<string, boolean>());
  const isTerm = (place: Place, row: Row): boolean =>
    !!place &&
    ('token' in place ||
      (row[place.slot] !== undefined && (terms.has(place.slot) || execution.outer?.[place.slot] !== undefined)));
  const hasMatch = async (bound: Terms): Promise<boolean> => {
    for await (const block of execution.matches.stream(bound, { part, places: [] })) if (block.length > 0) return true;
    return false;
  };
  const isNode = async (token: TermKey, own: TermKey | undefined): Promise<boolean> =>
    (await hasMatch([token, undefined, undefined, own])) || hasMatch([undefined, undefined, token, own]);
  return {
    async mayBegin(row) {
      const token = termAt(from, row) ?? termAt(to, row);
      if (!needsNodes || token === undefined || isTerm(from, row) || isTerm(to, row)) return true;
      const own = termAt(graph, row);
      const key = own === undefined ? token : `${own}\u0000${token}`;
      let found = known.get(key);
      if (found === undefined) {
        execution.assertTime();
        found = await isNode(token, own);
        known.set(key, found);
      }
      return found;
    },
  };
}
