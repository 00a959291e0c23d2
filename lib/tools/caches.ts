/** Creates caches that allocate memory for existing entries only. */
import { LRUCache } from 'lru-cache';

/**
 * Creates an LRU cache with a maximum number of entries. lru-cache's `max` would allocate the memory of all entries in advance.
 * @param ttl lifetime of an entry in milliseconds; 0 for no limit
 */
export const lruCache = <Value extends {}>(entries: number, ttl = 0): LRUCache<string, Value> =>
  new LRUCache({ maxSize: entries, sizeCalculation: () => 1, ttl });
