/** Returns memory to the operating system when a thread is idle. Otherwise V8 retains it after a load, possibly forever. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Milliseconds between checks, and the maximum share of CPU time of an idle thread. */
const [usualMs, shareAtRest] = [10_000, 0.01];
/** Minimum growth of the heap for a collection, in bytes: a collection blocks the thread for a tenth of a second. */
const worthBytes = 8 << 20;

/** Starts checks that collect garbage whenever this thread was idle for a while, and return the freed memory. */
export function releaseMemoryWhenIdle(lookMs = usualMs): void {
  let [kept, since] = [0, performance.eventLoopUtilization()];
  const look = async (): Promise<void> => {
    const { active } = performance.eventLoopUtilization(since);
    since = performance.eventLoopUtilization();
    if (active > lookMs * shareAtRest || heapBytes() < kept + worthBytes) return;
    await giveBack();
    kept = heapBytes();
  };
  setInterval(() => void look().catch(() => {}), lookMs).unref();
}

const heapBytes = (): number => getHeapStatistics().total_physical_size;

/** Collects garbage by the inspector, which also shrinks the young generation. @throws Error in a Node without inspector */
async function giveBack(): Promise<void> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise((resolve) => session.post('HeapProfiler.collectGarbage', resolve));
  // Disconnect later, because a disconnect within the callback would wait for the callback.
  setImmediate(() => session.disconnect());
}
