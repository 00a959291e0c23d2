/** Gives memory back where nothing is to be done: V8 keeps what it has taken under load, in some versions for ever. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** Milliseconds between two looks, and of them those that a thread at rest computes at most. */
const [usualMs, shareAtRest] = [10_000, 0.01];
/** Bytes that a heap must have got since: to collect it holds the thread up for a tenth of a second. */
const worthBytes = 8 << 20;

/** From here on this thread collects garbage whenever it had nothing to do for a while, and gives the system what that has freed. */
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

/** The only collection that shrinks the young generation, too. @throws Error in a Node without an inspector */
async function giveBack(): Promise<void> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise((resolve) => session.post('HeapProfiler.collectGarbage', resolve));
  // Within the callback it would wait for itself.
  setImmediate(() => session.disconnect());
}
