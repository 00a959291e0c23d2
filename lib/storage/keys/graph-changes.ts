/** Changes of graphs by a transaction, and the graphs that result from them. */
import { type GraphKeys, hasKey, lowerBound, PackedKeys } from './graph-keys.js';
import { compareKeys } from './key-order.js';

/** Keys that are added and removed, each list in order. */
export interface KeyDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The change of one graph, as GSPO keys. */
export interface GraphChange extends KeyDifference {
  /** The whole graph before; absent where it is large, and was not read. */
  readonly before: readonly string[] | undefined;
  /** The whole graph afterwards; absent where it is deleted, or a part of a large one was changed. */
  readonly keys: GraphKeys | undefined;
  /** How many triples it had and has. */
  readonly triples: { readonly before: number; readonly after: number };
  /** Only `added` and `removed` are known of a large graph; its other keys stay. */
  readonly isPart: boolean;
  /** The transaction's partner writes the graph; `keys` and `added` have only the statements about the resource itself, for indexes. */
  readonly isPartners?: true;
}

/** The difference of two sorted lists of keys. */
export function difference(before: readonly string[], after: readonly string[]): KeyDifference {
  if (before.length === 0) return { added: after, removed: [] };
  if (after.length === 0) return { added: [], removed: before };
  const added: string[] = [];
  const removed: string[] = [];
  // Both lists are in order, so one pass over them suffices; with 18 000 keys it takes a tenth of the time of two sets.
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const order = compareKeys(before[i]!, after[j]!);
    if (order < 0) removed.push(before[i]!);
    if (order > 0) added.push(after[j]!);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return { added: added.concat(after.slice(j)), removed: removed.concat(before.slice(i)) };
}

/** A graph after a change. */
export interface ChangedKeys extends KeyDifference {
  readonly keys: readonly string[];
}

/** Applies a change, which may add keys that are there and remove keys that are not: the result has only the effective ones. */
export function applied(before: readonly string[], { added, removed }: KeyDifference): ChangedKeys {
  const keys: string[] = [];
  const [come, gone]: [string[], string[]] = [[], []];
  let at = 0;
  let [next, out] = [0, 0];
  while (next < added.length || out < removed.length) {
    const comes = out === removed.length || (next < added.length && compareKeys(added[next]!, removed[out]!) < 0);
    const key = comes ? added[next++]! : removed[out++]!;
    for (const end = lowerBound(before, key, at); at < end; at++) keys.push(before[at]!);
    const isThere = before[at] === key;
    if (isThere) at++;
    if (comes) keys.push(key);
    if (comes && !isThere) come.push(key);
    if (!comes && isThere) gone.push(key);
  }
  for (; at < before.length; at++) keys.push(before[at]!);
  return { keys, added: come, removed: gone };
}

type Blocks = AsyncIterable<readonly string[]> | Iterable<readonly string[]>;

/** The difference of two graphs that are read in blocks, so that neither is in memory as a whole. */
export async function blockDifference(
  before: Blocks,
  after: Blocks,
): Promise<KeyDifference & { readonly before: number }> {
  const added: string[] = [];
  const removed: string[] = [];
  const [left, right] = [walk(before), walk(after)];
  let [a, b] = [await left.next(), await right.next()];
  let count = 0;
  while (a !== undefined || b !== undefined) {
    const order = a === undefined ? 1 : b === undefined ? -1 : compareKeys(a, b);
    if (order < 0) removed.push(a!);
    if (order > 0) added.push(b!);
    if (order <= 0) {
      count++;
      a = left.nextSoon() ?? (await left.next());
    }
    if (order >= 0) b = right.nextSoon() ?? (await right.next());
  }
  return { added, removed, before: count };
}

/** Gives single keys from blocks: `nextSoon` without waiting while the block lasts, `next` from the following block. */
function walk(blocks: Blocks) {
  const iterator = Symbol.asyncIterator in blocks ? blocks[Symbol.asyncIterator]() : blocks[Symbol.iterator]();
  let block: readonly string[] = [];
  let at = 0;
  return {
    nextSoon: (): string | undefined => block[at++],
    async next(): Promise<string | undefined> {
      for (at = 0, block = []; block.length === 0; ) {
        const found = await iterator.next();
        if (found.done) return undefined;
        block = found.value;
      }
      return block[at++];
    },
  };
}

type Laid = Pick<GraphChange, 'added' | 'removed' | 'keys' | 'isPart'>;

/** The index of the last change, in commit order, that has the whole graph; -1: none. */
export const lastWhole = (changes: readonly Laid[]): number => changes.findLastIndex(({ isPart }) => !isPart);

/** Whether a graph has a key after some changes, in commit order; `undefined`: the changes do not concern the key. */
export function hasAfter(changes: readonly Laid[], key: string): boolean | undefined {
  for (let at = changes.length - 1; at >= 0; at--) {
    const { added, removed, keys, isPart } = changes[at]!;
    if (!isPart) return keys !== undefined && (keys instanceof PackedKeys ? keys.has(key) : hasKey(keys, key));
    if (hasKey(added, key)) return true;
    if (hasKey(removed, key)) return false;
  }
  return undefined;
}

/** The blocks of a graph after changes of parts of it. */
export async function* overlay(blocks: Blocks, parts: readonly Laid[]): AsyncGenerator<readonly string[]> {
  const last = new Map<string, boolean>();
  for (const { added, removed } of parts) {
    for (const key of removed) last.set(key, false);
    for (const key of added) last.set(key, true);
  }
  const added = [...last].flatMap(([key, isThere]) => (isThere ? [key] : [])).sort(compareKeys);
  let at = 0;
  for await (const block of blocks) {
    const result: string[] = [];
    for (const key of block) {
      while (at < added.length && compareKeys(added[at]!, key) < 0) result.push(added[at++]!);
      // Keys with a change come from `added` alone: the change may be on the disk by now, and in the block.
      if (last.get(key) === undefined) result.push(key);
    }
    yield result;
  }
  if (at < added.length) yield added.slice(at);
}
