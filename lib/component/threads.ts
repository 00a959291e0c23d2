/** Work in other threads. */
export { ThreadEnded } from '../threads/line.js';
export { Places } from '../threads/places.js';
export { Slots } from '../threads/slots.js';
export { Thread } from '../threads/thread.js';
export { threadLimits } from '../threads/thread-limits.js';
export { ThreadOutput } from '../threads/thread-output.js';
export { spares, WorkerPool } from '../threads/worker-pool.js';
