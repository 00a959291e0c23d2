/**
 * Ends work in a worker thread while it still can be ended: at its deadline, and when it comes near to what its thread may have of memory,
 * since V8 stops the whole process when one allocation goes over the limit of a thread.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resourceLimits } from 'node:worker_threads';
import { programMb } from '../threads/thread-limits.js';

/** Of what work may add to a heap. A table that grows doubles what it holds, and nothing is checked meanwhile. */
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
  const reserve = programMb * 2 ** 20;
  // What was before leaves garbage, which is nothing that this work takes.
  if (usedHeap() > reserve + limitBytes * maxUsed) collectNow();
  const most = Math.min(usedHeap(), reserve) + limitBytes * maxUsed;
  return () => {
    if (isOutOfMemory(most)) throw outOfMemory();
    if (performance.now() > end) throw timeout();
  };
}

const threadBytes = (resourceLimits.maxOldGenerationSizeMb ?? 512) * 2 ** 20;
const limitBytes = threadBytes - programMb * 2 ** 20;
const usedHeap = (): number => getHeapStatistics().used_heap_size;
let collectAt = 0;
let collect: (() => void) | undefined;

function isOutOfMemory(most: number): boolean {
  const isOver = (): boolean => usedHeap() > most;
  // What counts as used may be garbage; near the limit of the thread it is not waited with.
  if (!isOver() || (performance.now() < collectAt && usedHeap() < (most + threadBytes) / 2)) return false;
  collectNow();
  collectAt = performance.now() + collectEveryMs;
  return isOver();
}

function collectNow(): void {
  collect ??= exposedCollector();
  collect();
}

function exposedCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
