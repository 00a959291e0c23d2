/**
 * Blocks of set lengths from blocks of any: how many items came together would tell of those that were left out between them, since what
 * works block by block shows the lengths in the order of its rows. Pure.
 */

const firstLength = 64;
const maxLength = 2048;

/** The same items; short blocks first, since the first may be all that is wanted. */
export async function* even<T>(blocks: AsyncIterable<readonly T[]>): AsyncGenerator<T[]> {
  let length = firstLength;
  let waiting: T[] = [];
  for await (const block of blocks) {
    for (const item of block) {
      waiting.push(item);
      if (waiting.length < length) continue;
      yield waiting;
      waiting = [];
      length = Math.min(maxLength, 4 * length);
    }
  }
  if (waiting.length > 0) yield waiting;
}
