/** Which DPoP proofs have been used: bounded, and forgetting what could not be used again anyway. It must not know proofs. */
import { LRUCache } from 'lru-cache';

export interface ReplayCache {
  /** Marks an identifier as used. False when it was already. */
  consume(id: string): boolean;
}

/** @param validMs how long a proof could be used again: its greatest age, and how far it may lie ahead */
export function replayCache(size: number, validMs: number): ReplayCache {
  const used = new LRUCache<string, true>({ max: size, ttl: validMs });
  return {
    consume(id) {
      if (used.has(id)) return false;
      used.set(id, true);
      return true;
    },
  };
}
