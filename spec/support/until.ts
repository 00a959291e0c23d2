import { patience } from './patience.js';

/** Polls until a condition holds, at first every millisecond and after a second every 20 ms. @throws Error after the given time */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what = 'a condition holds',
  milliseconds = 60_000,
): Promise<void> {
  for (const began = performance.now(); !(await holds()); ) {
    const waited = performance.now() - began;
    if (waited > milliseconds * patience) throw new Error(`timed out waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(20, 1 + waited / 50)));
  }
}
