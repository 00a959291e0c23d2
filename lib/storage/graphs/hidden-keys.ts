/** Which graphs are no part of the state although quads of them lie in the store: an entry says so (`hidden-graphs`). */
import { randomUUID } from 'node:crypto';
import { keyBlocks, type Level, type LevelSnapshot } from '../engine/durable-level.js';
import { entryKey, entryRange, partsOfEntry } from '../state/records.js';
import type { GraphKeys } from './graph-keys.js';

const space = 'hidden-graphs';
/** Its value says what becomes of the graph: `dropped`, or a name of what is being written. */
export const hiddenKey = (graph: string): string => entryKey(space, graph);
export const hiddenRange = entryRange(space);
/** Its quads are being removed. */
export const dropped = 'dropped';
const names = new WeakMap<object, string>();
/** What is written as the value while these keys are. */
export function loadingName(keys: GraphKeys): string {
  const name = names.get(keys) ?? `loading ${randomUUID()} ${Date.now()}`;
  names.set(keys, name);
  return name;
}

/** An upload that began longer ago than this is abandoned. */
const abandonedMs = 3_600_000;
/** Whether another server may still be writing it. */
export const mayBeLoading = (value: string): boolean =>
  value !== dropped && Date.now() - Number(value.split(' ')[2] ?? 0) < abandonedMs;

/** A transaction writes a graph that is hidden: it has to wait until nothing is left of that. */
export class GraphInTheWay extends Error {
  constructor(readonly graph: string) {
    super(`The graph ${graph} is being written or removed.`);
    this.name = 'GraphInTheWay';
  }
}

/** The hidden graphs of a snapshot. */
export async function hiddenGraphs(level: Level, snapshot: LevelSnapshot): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const keys of keyBlocks(level, hiddenRange, { snapshot }))
    for (const key of keys) found.add(partsOfEntry(key)[1]!);
  return found;
}
