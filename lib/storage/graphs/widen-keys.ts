/**
 * Migration of quad keys: the first servers wrote one U+0000 between the parts, later ones two, since with one a term that ends in U+0000
 * could not be told from its neighbour. Types and lengths at the end are the same in both.
 */
import { keyBlocks, type Level, writeBatch } from '../engine/durable-level.js';
import { endDigits, separator, suffixOfKey, suffixStart, termLengths } from './key-layout.js';
import { indexNames } from './quad-keys.js';

const narrow = '\u0000';

/** The key with the separator of today. */
export function widened(key: string): string {
  const suffix = suffixOfKey(key);
  let at = key.indexOf(narrow);
  const parts = [key.slice(0, at)];
  for (const lengths of termLengths(suffix))
    for (const length of lengths.toReversed()) {
      parts.push(key.slice(at + narrow.length, at + narrow.length + length));
      at += narrow.length + length;
    }
  if (at + narrow.length !== suffixStart(key)) throw new Error(`The key ${JSON.stringify(key)} of a quad is damaged.`);
  return [...parts, suffix].join(separator) + key.slice(-endDigits);
}

/** Rewrites the keys of all quads; each block in one batch, so that it may be interrupted. @param told called with how many are done */
export async function widenKeys(level: Level, told: (done: number) => void): Promise<void> {
  let done = 0;
  for (const index of indexNames)
    for await (const keys of keyBlocks(level, { gte: `${index}${narrow}\u0001`, lt: `${index}\u0001` })) {
      const last = widened(keys.at(-1)!);
      const fill = (batch: { put(key: string, value: string): unknown; del(key: string): unknown }): void => {
        for (const key of keys) {
          batch.put(widened(key), '');
          batch.del(key);
        }
      };
      await writeBatch(level, fill, () => [last, '']);
      done += keys.length;
      told(done);
    }
}
