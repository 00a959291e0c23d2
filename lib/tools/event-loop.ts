/** Pauses of work in the HTTP thread. */

/** Yields to the event loop once. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const inLine: (() => void)[] = [];
/** Time of the last turn, and number of callers that it resumed. */
const last = { at: 0, count: 1 };
/** A turn that takes longer, in milliseconds, is followed by one that resumes a single caller. Maximum of a turn. */
const [shortMs, mostAtOnce] = [1, 4];

function resumeNext(): void {
  const now = performance.now();
  last.count = now - last.at < shortMs ? Math.min(mostAtOnce, 2 * last.count) : 1;
  last.at = now;
  for (const resume of inLine.splice(0, last.count)) resume();
  // Scheduled here, so that the others wait for the next turn of the event loop.
  if (inLine.length > 0) setImmediate(resumeNext);
}

/**
 * Yields to the event loop in work that many unprivileged callers can request at once. It resumes a few waiting callers in each of
 * its turns, in order of arrival: one if their steps take milliseconds. After `setImmediate`, a step of each of a hundred callers
 * would run in the same turn. Every other request would wait for all of these, several times.
 */
export function yieldInLine(): Promise<void> {
  return new Promise((resolve) => {
    inLine.push(resolve);
    if (inLine.length === 1) setImmediate(resumeNext);
  });
}
