/**
 * Ends a query that comes near to what its thread may have of memory, while it still can be ended: V8 stops the whole process
 * when one allocation goes over the limit of a thread. It must not know queries.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { outOfMemory } from './query-errors.js';

/** A table that grows doubles what it holds, and nothing is checked meanwhile. */
const mostUsed = 0.6;
/** Between two collections that are asked for, in ms. */
const collectEveryMs = 1000;

/** @param limitBytes what the thread may have; the guard throws LwsError `query-limit` */
export function heapGuard(limitBytes: number): () => void {
  let collectAt = 0;
  let collect: (() => void) | undefined;
  const isOver = (): boolean => getHeapStatistics().used_heap_size > limitBytes * mostUsed;
  return () => {
    // What counts as used may be garbage.
    if (!isOver() || performance.now() < collectAt) return;
    collect ??= exposedCollector();
    collect();
    collectAt = performance.now() + collectEveryMs;
    if (isOver()) throw outOfMemory();
  };
}

function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
