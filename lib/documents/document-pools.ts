/** The threads that documents are worked on in, and who gets one. */
import { WorkerPool } from '../threads/worker-pool.js';

export interface Pools {
  readonly large: WorkerPool;
  readonly updates: WorkerPool;
  /** What others sent for a stranger's word keeps nobody waiting who stores something. */
  readonly foreign: WorkerPool;
}

/** Who controls the storage always finds a thread. */
const ranks = [2, 1, 1];

/** The threads of a server; none is started yet. */
export function makePools(): Pools {
  const script = new URL('./document-worker.js', import.meta.url);
  return {
    large: new WorkerPool({ script, size: 2, ranks, queue: 200, idleMs: 20_000, memoryMb: 2048, nurseryMb: 8 }),
    updates: new WorkerPool({
      script,
      size: 2,
      ranks: [2, 2, 1],
      queue: 100,
      memoryMb: 1024,
      nurseryMb: 8,
      workerData: { engine: true },
    }),
    foreign: new WorkerPool({ script, size: 1, queue: 16, idleMs: 20_000, memoryMb: 256, nurseryMb: 8 }),
  };
}
