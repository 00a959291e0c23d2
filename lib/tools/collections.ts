/** Helpers for arrays, sets and maps. Pure. */

/** Adds an item and returns true if it was new, with one lookup instead of two (`has` and `add`). */
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

/** Returns the value of a key. Creates and stores it at the first use. */
export function getOrMake<K, V>(
  values: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: (key: K) => V,
): V {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  values.set(key, made);
  return made;
}

/** Changes the count of a key. At zero, removes its entry. */
export function addCount<K>(counts: Map<K, number>, key: K, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

/** Yields an array in slices of a length. The last slice may be shorter. */
export function* slices<T>(items: readonly T[], length: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length);
}

/** Returns true if a number is in one of several intervals. @param bounds starts (inclusive) and ends (exclusive), alternating and in order */
export function isInIntervals(bounds: Uint32Array, number: number): boolean {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (bounds[middle]! <= number) low = middle + 1;
    else high = middle;
  }
  // An odd count of bounds up to the number means that the last of them is a start.
  return low % 2 === 1;
}

/** Returns the first index for which `isBefore` returns false, or the end of the range (binary search). */
export function partitionPoint(from: number, to: number, isBefore: (index: number) => boolean): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
