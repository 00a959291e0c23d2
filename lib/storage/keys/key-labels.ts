/** Replaces labels of blank nodes in GSPO keys. */
import { hasBlankNode } from './key-layout.js';
import { spansOfKey } from './quad-decoding.js';

/** Label that the parser has assigned (`freshLabels`). */
const freshLabel = /b[0-9a-f]{24}x[0-9a-z]{4,}/g;

/**
 * Returns keys with other labels of the same length, no longer sorted.
 * @param keys keys of a document that was just parsed, so that its labels are random and occur in no other text
 * @param labels new labels by old labels
 */
export function withLabels(keys: readonly string[], labels: ReadonlyMap<string, string>): string[] {
  const other = (label: string): string => {
    const found = labels.get(label);
    return found?.length === label.length ? found : label;
  };
  return keys.map((key) => (hasBlankNode(key) ? key.replaceAll(freshLabel, other) : key));
}

/** Maximum difference that `labelsInOrder` accepts: share of the keys, but at least `few` keys. */
const [share, few] = [0.02, 4];

/**
 * Maps the labels of a new state, in order, to the labels of another state. Most changes keep the order of blank nodes.
 * @returns `undefined` if many keys would still differ
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
