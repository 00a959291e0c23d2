/** Work in other threads. */
export { ThreadEnded } from '../threads/line.js';
export { Slots } from '../threads/slots.js';
export { Thread } from '../threads/thread.js';
export { threadLimits } from '../threads/thread-limits.js';
export { ThreadOutput } from '../threads/thread-output.js';
export { Places, spares, WorkerPool } from '../threads/worker-pool.js';
