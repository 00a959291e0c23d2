/** Caches that take memory for what they hold alone. */
import { LRUCache } from 'lru-cache';

/**
 * An LRU cache of so many entries. The `max` of lru-cache would take the memory of all of them when the cache is made.
 * @param ttl milliseconds that an entry is good for; 0: any time
 */
export const lruCache = <Value extends {}>(entries: number, ttl = 0): LRUCache<string, Value> =>
  new LRUCache({ maxSize: entries, sizeCalculation: () => 1, ttl });
