/** Compares keys in LevelDB's order, which is the order of their UTF-8 bytes. */

const isBeyondBmp = /[\ud800-\udfff]/;
/** Compares keys in JavaScript's order, by UTF-16 units. */
const compareUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const isFromSurrogatesOn = /[\ud800-\uffff]/;

/** Returns a test for keys that sort before `key`. If `key` has only characters below the surrogates, both orders agree. */
export const comesBefore = (key: string): ((other: string) => boolean) =>
  isFromSurrogatesOn.test(key) ? (other) => compareKeys(other, key) < 0 : (other) => other < key;

/** Compares two keys by their UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  if (a === b) return 0;
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
  // If only one unit is a surrogate, its character is beyond the BMP and sorts last.
  if (isSurrogate(left) !== isSurrogate(right)) return isSurrogate(left) ? 1 : -1;
  return Number.isNaN(left) || left < right ? -1 : 1;
}
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

/** Returns a comparison in LevelDB's order: the faster `compareUnits` if both orders agree on the keys. */
export const orderOf = (keys: readonly string[]): ((a: string, b: string) => number) =>
  keys.some((key) => isBeyondBmp.test(key)) ? compareKeys : compareUnits;

/** Sorts like LevelDB, by UTF-8 bytes. JavaScript's order by UTF-16 units differs beyond the BMP. */
export const sortKeys = (keys: string[]): string[] => (keys.length < 2 ? keys : keys.sort(orderOf(keys)));
