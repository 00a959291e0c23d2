/** Functions that let work in the HTTP thread yield to the event loop. */

/** Yields to the event loop once. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const inLine: (() => void)[] = [];
/** Time of the last turn of the event loop that resumed callers, and count of these callers. */
const last = { at: 0, count: 1 };
/** Duration of a turn in milliseconds above which the next turn resumes one caller, and maximum count of callers per turn. */
const [shortMs, mostAtOnce] = [1, 4];

function resumeNext(): void {
  const now = performance.now();
  last.count = now - last.at < shortMs ? Math.min(mostAtOnce, 2 * last.count) : 1;
  last.at = now;
  for (const resume of inLine.splice(0, last.count)) resume();
  // Schedule from here, so that the other callers wait for the next turn of the event loop.
  if (inLine.length > 0) setImmediate(resumeNext);
}

/**
 * Yields to the event loop in work that many unprivileged callers can request at once. Each turn resumes a few waiting callers
 * in order of arrival: only one if steps take milliseconds. With plain `setImmediate`, a step of each of a hundred callers
 * would run in the same turn, and every other request would wait for all of them, several times.
 */
export function yieldInLine(): Promise<void> {
  return new Promise((resolve) => {
    inLine.push(resolve);
    if (inLine.length === 1) setImmediate(resumeNext);
  });
}
