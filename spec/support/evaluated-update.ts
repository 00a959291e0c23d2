/** An update of a graph that is given by its keys, evaluated in this thread as a worker does it. */
import { MemoryLevel } from 'memory-level';
import type { GraphDelta } from '../../lib/query/change-set.js';
import { evaluateUpdate } from '../../lib/query/evaluate-update.js';
import type { Level } from '../../lib/storage/level/durable-level.js';

const assertTime = (): void => {};

export async function changeOf(text: string, graph: string, keys: readonly string[]): Promise<GraphDelta> {
  const level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
  await level.put('graph', JSON.stringify({ revision: 'spec', prefixes: {}, keys }));
  const snapshot = level.snapshot();
  return (await evaluateUpdate({ text, target: { graph, entry: 'graph' } }, { level, snapshot }, assertTime))!;
}

/** The change of any graph. `undefined` for an update that does more than name triples. */
export const dataChangeOf = (text: string, graph: string): Promise<GraphDelta | undefined> =>
  evaluateUpdate({ text, target: { graph } }, undefined, assertTime);
