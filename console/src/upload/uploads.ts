/** The queues of this tab, one for each container that files go to: they continue while other pages are looked at. */
import { UploadQueue } from './queue.js';

const queues = new Map<string, UploadQueue>();

/** When its files have all come to an end, the window has an event `uploaded`. */
export function uploadsTo(container: string): UploadQueue {
  const known = queues.get(container);
  if (known) return known;
  const made = new UploadQueue();
  made.addEventListener('change', () => {
    if (made.isSettled && made.uploads.length > 0) dispatchEvent(new Event('uploaded'));
  });
  queues.set(container, made);
  return made;
}

/** The other containers that something is still sent to. */
export const uploadsElsewhere = (container: string): readonly string[] =>
  [...queues].filter(([iri, { isSettled }]) => iri !== container && !isSettled).map(([iri]) => iri);

addEventListener('beforeunload', (event) => {
  if ([...queues.values()].some(({ isSettled }) => !isSettled)) event.preventDefault();
});
