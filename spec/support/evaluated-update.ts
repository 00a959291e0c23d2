/** SPARQL updates evaluated in this thread, by the code of the worker threads. */
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

/** Returns the change of an update that only inserts or deletes given triples. `undefined` for other updates. */
export const dataChangeOf = (text: string, graph: string): Promise<GraphDelta | undefined> =>
  evaluateUpdate({ text, target: { graph } }, undefined, assertTime);
