/** Two steps that sets and maps of the engine have in common. Pure. */

/** Whether the item was not there yet; one look-up, where `has` and `add` are two. */
export function addNew<T>(set: Set<T>, item: T): boolean {
  const before = set.size;
  return set.add(item).size > before;
}

/** Puts the item after the others of its key. */
export function addTo<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const own = lists.get(key);
  if (own) own.push(item);
  else lists.set(key, [item]);
}
