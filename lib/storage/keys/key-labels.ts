/** Other labels of blank nodes in GSPO keys. */
import { hasBlankNode } from './key-layout.js';
import { spansOfKey } from './quad-decoding.js';

/** A label that the parser of a document made (`freshLabels`). */
const freshLabel = /b[0-9a-f]{24}x[0-9a-z]{4,}/g;

/**
 * Returns keys with other labels of the same length, no longer sorted.
 * @param keys of a document that was just parsed. Its labels are random, so that no other text in the keys has them
 * @param labels other labels by those of the keys
 */
export function withLabels(keys: readonly string[], labels: ReadonlyMap<string, string>): string[] {
  const other = (label: string): string => {
    const found = labels.get(label);
    return found?.length === label.length ? found : label;
  };
  return keys.map((key) => (hasBlankNode(key) ? key.replaceAll(freshLabel, other) : key));
}

/** Differences that are accepted, as a part of the keys, and their minimum. */
const [share, few] = [0.02, 4];

/**
 * Returns the labels of another state in their order, which is that of the documents, by those of a new one. Most changes keep it.
 * @returns `undefined` if the result has many other keys
 */
export function labelsInOrder(
  others: readonly string[],
  keys: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const [theirs, own] = [labelsIn(others), labelsIn(keys)];
  if (!theirs || theirs.length !== own?.length) return undefined;
  const labels = new Map(own.map((label, at) => [label, theirs[at]!]));
  const known = new Set(others);
  let different = 0;
  for (const key of withLabels(keys, labels)) if (!known.has(key)) different++;
  return different <= Math.max(few, share * keys.length) ? labels : undefined;
}

/** Returns the sorted labels of keys; `undefined` if there are triple terms. */
function labelsIn(keys: readonly string[]): readonly string[] | undefined {
  const found = new Set<string>();
  for (const key of keys) {
    const [, subject, , object] = spansOfKey(key);
    if (object!.type === '8') return undefined;
    for (const { type, from, end } of [subject!, object!]) if (type === '1') found.add(key.slice(from, end));
  }
  return [...found].sort();
}
