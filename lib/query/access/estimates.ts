/** Rounds to a power of two: the size includes closed quads, and small changes of these must not change the order of joins. */
export const roughly = (count: number): number => 2 ** Math.round(Math.log2(Math.max(1, count)));
