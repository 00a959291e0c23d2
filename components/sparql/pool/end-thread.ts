/**
 * The end of a query thread: it is told, closes LevelDB by itself, and is killed when it does not. One that is killed while LevelDB reads
 * for it can leave an iterator behind, which ends the process when the store is closed.
 */
import type { Worker } from 'node:worker_threads';
import type { ToQueryWorker } from './messages.js';

/** What computes without a pause does not hear of it. */
const graceMs = 200;

/** Resolves when the thread has ended. */
export function endThread(worker: Worker): Promise<void> {
  const message: ToQueryWorker = { stop: true };
  worker.postMessage(message);
  return new Promise((resolve) => {
    const timer = setTimeout(() => void worker.terminate(), graceMs);
    worker.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
