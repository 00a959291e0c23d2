/** The keys of one graph in memory, read as those of LevelDB are: what an update works on. */
import { type IndexName, indexNames, otherKeys } from '../../storage/graphs/quad-keys.js';
import type { KeyIterators, Seekable } from './key-iterators.js';

const keysAtATime = 2000;
/** No client asks a list for bytes but to count keys. */
const bytesPerKey = 34;

/**
 * @param keys GSPO keys
 * @param assertTime called now and then; throws when the work has to end
 */
export function keyLists(keys: ReadonlySet<string>, assertTime: () => void): KeyIterators {
  const lists = new Map<string, readonly string[]>();
  /** The keys of an order, sorted when they are first asked for. */
  const listOf = (index: string): readonly string[] => {
    let list = lists.get(index);
    if (!list) {
      assertTime();
      const at = indexNames.indexOf(index as IndexName) - 1;
      list = (at < 0 ? [...keys] : Array.from(keys, (key) => otherKeys(key)[at]!)).sort();
      lists.set(index, list);
    }
    return list;
  };
  const listFor = (prefix: string): readonly string[] => listOf(prefix.slice(0, 4));
  async function* leaps(
    prefix: string,
    target: () => string | undefined,
    start = prefix,
  ): AsyncGenerator<readonly string[]> {
    const list = listFor(prefix);
    for (let from = firstAt(list, start); ; ) {
      assertTime();
      const end = endOf(list, prefix, { from, limit: from + keysAtATime });
      if (end === from) return;
      yield list.slice(from, end);
      const next = target();
      from = next === undefined ? end : Math.max(end, firstAt(list, next));
    }
  }
  return {
    blocks: (prefix) => leaps(prefix, () => undefined),
    leaps,
    steps: (prefix, from, target) => leaps(prefix, target, from),
    lend: (index, work) => work(seekable(listOf(index))),
    async sizeOf(prefix) {
      const list = listFor(prefix);
      const from = firstAt(list, prefix);
      return (endOf(list, prefix, { from, limit: list.length }) - from) * bytesPerKey;
    },
    async sizeBetween(from, to) {
      const list = listFor(from);
      return (firstAt(list, to) - firstAt(list, from)) * bytesPerKey;
    },
    hasKey: (key) => keys.has(key),
    close: async () => {},
  };
}

function seekable(list: readonly string[]): Seekable {
  let at = 0;
  return {
    seek(target) {
      at = firstAt(list, target);
    },
    async nextv(size) {
      const some = list.slice(at, at + size);
      at += some.length;
      return some;
    },
    close: async () => {},
  };
}

/** Where the first key stands that is not before the target. */
function firstAt(list: readonly string[], target: string): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < target) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Where the keys with the prefix end, looking no further than the limit. */
function endOf(
  list: readonly string[],
  prefix: string,
  { from, limit }: { readonly from: number; readonly limit: number },
): number {
  let [low, high] = [from, Math.min(list.length, limit)];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.startsWith(prefix)) low = middle + 1;
    else high = middle;
  }
  return low;
}
