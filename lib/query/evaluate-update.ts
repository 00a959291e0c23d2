/** Evaluates an update of one graph over a snapshot, in a worker thread. */
import { assertExpandableText } from '../rdf/bounds.js';
import { largeGraph } from '../storage/graphs/graph-lines.js';
import { type GraphDelta, graphUpdates } from './change-set.js';
import { dataDelta, readPlain, removesTriples } from './data-delta.js';
import { computeUpdate } from './graphs-update.js';
import { readUpdate, type SentUpdate, type UpdateTarget } from './parse/read-update.js';
import { type OpenedState, stateOfGraph } from './state-before.js';

export type TargetedUpdate = SentUpdate & { readonly target: UpdateTarget };

/** Maximum length of the keys of one operation, in characters. The store has several copies in memory while it writes them. */
const maxMade = 16 << 20;

/**
 * Evaluates an update.
 * @param opened a database and a snapshot of it. Without them, the update may only contain triples without variables
 * @param assertTime called for each block; throws to stop
 * @returns the change, with the revision of the graph in the snapshot (`null` if the graph does not exist). The change has no
 * revision if it applies to any state: the update has no variables, and the graph is not loaded or stays large. `undefined` if
 * the update needs the graph but `opened` is absent
 * @throws LwsError as `readUpdate`, `readN3Patch`, `dataDelta`, `computeUpdate`
 */
export async function evaluateUpdate(
  { target, ...sent }: TargetedUpdate,
  opened: OpenedState | undefined,
  assertTime: () => void,
): Promise<GraphDelta | undefined> {
  const { graph } = target;
  assertExpandableText(sent.text);
  const update = readPlain(sent, graph) ?? (await readUpdate(sent.text, graph));
  if (!opened) return dataDelta(update, target);
  const state = await stateOfGraph(opened, target, assertTime);
  if (!state) return { added: [], removed: [], prefixes: {}, revision: null };
  const { triples = 0, revision = null, prefixes = {} } = state.record(graph)!;
  const data = triples > largeGraph ? await dataDelta(update, target) : undefined;
  if (data && triples - data.removed.length > largeGraph) return data;
  const changed = await computeUpdate(update.steps, {
    ...{ graph, state, assertTime, maxMade, isStrict: update.isStrict ?? false },
    readable: { all: true, known: () => true, resolve: async () => {} },
    ...{ defaultGraphs: [graph], namedGraphs: [], maxSolutions: Infinity, maxChanged: Infinity },
  });
  const same = { added: [], removed: [], prefixes, revision };
  const { value: delta = same } = await graphUpdates(changed, update.prefixes, Infinity).next();
  return { ...delta, removes: removesTriples(update) };
}
