/**
 * Ends work in a worker thread while it still can be ended: at its deadline, and when it comes near to what its thread may have of memory,
 * since V8 stops the whole process when one allocation goes over the limit of a thread.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resourceLimits } from 'node:worker_threads';

/** A table that grows doubles what it holds, and nothing is checked meanwhile. */
const maxUsed = 0.6;
/** Between two collections that are asked for, in ms. */
const collectEveryMs = 1000;

export interface Limits {
  readonly timeoutMs: number;
  /** What is thrown at the deadline. */
  readonly timeout: () => Error;
  /** What is thrown when memory runs out. */
  readonly outOfMemory: () => Error;
}

/** A check for the loops of the work, which begins now. To be called in a worker thread. */
export function checkOf({ timeoutMs, timeout, outOfMemory }: Limits): () => void {
  const end = performance.now() + timeoutMs;
  return () => {
    if (isOutOfMemory()) throw outOfMemory();
    if (performance.now() > end) throw timeout();
  };
}

const limitBytes = (resourceLimits.maxOldGenerationSizeMb ?? 512) * 2 ** 20;
let collectAt = 0;
let collect: (() => void) | undefined;

function isOutOfMemory(): boolean {
  const isOver = (): boolean => getHeapStatistics().used_heap_size > limitBytes * maxUsed;
  // What counts as used may be garbage.
  if (!isOver() || performance.now() < collectAt) return false;
  collect ??= exposedCollector();
  collect();
  collectAt = performance.now() + collectEveryMs;
  return isOver();
}

function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
