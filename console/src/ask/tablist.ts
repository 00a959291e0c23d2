/** Keys within a row of tabs. Pure. */

/** The tab that a key leads to; `undefined` for other keys. */
export function arrowTarget({ key }: KeyboardEvent, at: number, count: number): number | undefined {
  if (key === 'ArrowRight') return (at + 1) % count;
  if (key === 'ArrowLeft') return (at + count - 1) % count;
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return undefined;
}
