/** Helpers for sets and maps. Pure. */

/** Adds an item and returns true if it was new. One lookup instead of two for `has` and `add`. */
export function addNew<T>(set: Set<T>, item: T): boolean {
  const before = set.size;
  return set.add(item).size > before;
}

/** Appends an item to the list of its key. */
export function addTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const own = lists.get(key);
  if (own) own.push(item);
  else lists.set(key, [item]);
}
