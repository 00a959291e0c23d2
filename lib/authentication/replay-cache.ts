/** Which DPoP proofs have been used: bounded, and never forgetting one that could be used again. */

export interface ReplayCache {
  /** Marks an identifier as used; `full` when there is no room to remember it. */
  consume(id: string): 'new' | 'used' | 'full';
}

/**
 * @param size how many identifiers at most
 * @param validMs how long a proof could be used again: its greatest age, and how far it may lie ahead
 */
export function replayCache(size: number, validMs: number, clock: () => number): ReplayCache {
  /** Until when each is remembered (ms); all for the same time, so the first ones go first. */
  const used = new Map<string, number>();
  return {
    consume(id) {
      const now = clock();
      for (const [known, until] of used) {
        if (until > now) break;
        used.delete(known);
      }
      if (used.has(id)) return 'used';
      if (used.size >= size) return 'full';
      used.set(id, now + validMs);
      return 'new';
    },
  };
}
