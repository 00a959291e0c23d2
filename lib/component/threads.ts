/** Work in other threads. */
export { threadLimits } from '../threads/thread-limits.js';
export { NotBegun } from '../threads/worker-job.js';
export { WorkerPool } from '../threads/worker-pool.js';
export {
  type FromWorker,
  linesAtATime,
  runTask,
  TaskAborted,
  TaskFailed,
  type ToWorker,
} from '../threads/worker-task.js';
