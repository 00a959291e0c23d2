/**
 * Stops work in a worker thread at its deadline, and before the thread reaches its memory limit. At that limit, V8 aborts the
 * whole process.
 */
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { resourceLimits } from 'node:worker_threads';
import { programMb } from '../tools/threads/thread-limits.js';

/** Share of the heap that work may use. A growing table may double its size between two checks. */
const maxUsed = 0.6;
/** Minimum time between two requested garbage collections, in milliseconds. */
const collectEveryMs = 1000;

export interface Limits {
  readonly timeoutMs: number;
  /** Creates the error at the deadline. */
  readonly timeout: () => Error;
  /** Creates the error if the memory limit is reached. */
  readonly outOfMemory: () => Error;
}

/** Count of matches and rows, and milliseconds, after which the memory is read again: a reading takes as long as a lookup. */
const [unreadWork, unreadMs] = [1024, 2];

/**
 * Returns a check to call in loops of a worker thread, which throws at a limit. The time starts now.
 * @returns function of the count of matches and rows since its last call. Without a count, the memory is always read
 */
export function checkOf({ timeoutMs, timeout, outOfMemory }: Limits): (work?: number) => void {
  const end = performance.now() + timeoutMs;
  // Garbage of earlier work is collected, so that it is not charged to this work.
  if (usedHeap() > reserve + limitBytes * maxUsed) collectNow();
  const most = Math.min(usedHeap(), reserve) + limitBytes * maxUsed;
  let [unread, readAt] = [0, end - timeoutMs];
  return (work = unreadWork) => {
    unread += work;
    const now = performance.now();
    if (unread >= unreadWork || now - readAt > unreadMs) {
      [unread, readAt] = [0, now];
      if (isOutOfMemory(most)) throw outOfMemory();
    }
    if (now > end) throw timeout();
  };
}

const reserve = programMb * 2 ** 20;

/** True if garbage collection does not free the memory of earlier work. Further work in this thread would then be rejected. */
export function isWorn(): boolean {
  if (usedHeap() <= reserve + limitBytes * maxUsed) return false;
  collectNow();
  return usedHeap() > reserve + (limitBytes * maxUsed) / 2;
}

const threadBytes = (resourceLimits.maxOldGenerationSizeMb ?? 512) * 2 ** 20;
const limitBytes = threadBytes - programMb * 2 ** 20;
const usedHeap = (): number => getHeapStatistics().used_heap_size;
let collectAt = 0;
let collect: (() => void) | undefined;

function isOutOfMemory(most: number): boolean {
  const isOver = (): boolean => usedHeap() > most;
  // Used memory may include garbage. It is collected at most every second, unless the thread's limit is near.
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
