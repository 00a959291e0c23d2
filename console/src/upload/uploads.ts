/** The one queue of this tab: it continues while other pages are looked at. */
import { UploadQueue } from './queue.js';

let queue: UploadQueue | undefined;

export function uploads(): UploadQueue {
  if (queue) return queue;
  const made = new UploadQueue();
  made.addEventListener('change', () => {
    if (made.isSettled && made.takeSettled()) made.dispatchEvent(new Event('settled'));
  });
  addEventListener('beforeunload', (event) => {
    if (!made.isSettled) event.preventDefault();
  });
  queue = made;
  return made;
}
