/** Changes of graphs by a transaction, and the resulting graphs. */
import { type GraphKeys, hasKey, lowerBound, PackedKeys } from './graph-keys.js';
import type { RdfVersion } from './key-layout.js';
import { compareKeys } from './key-order.js';

/** Added and removed keys, both sorted. */
export interface KeyDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Change of one graph, as GSPO keys. */
export interface GraphChange extends KeyDifference {
  /** Keys of the previous graph. Undefined for a large graph that was not read. */
  readonly before: readonly string[] | undefined;
  /** Keys of the new graph. Undefined if it is deleted, or if a part of a large graph was changed. */
  readonly keys: GraphKeys | undefined;
  /** Count of triples before and after the change. */
  readonly triples: { readonly before: number; readonly after: number };
  /** True for a change of a large graph of which only `added` and `removed` are known. The other keys of the graph stay. */
  readonly isPart: boolean;
  /** True if a bulk writer writes the graph. `keys` and `added` have only the statements about the resource, for indexes. */
  readonly isPartners?: true;
  /** `KeyDigest` of a graph that a bulk writer writes, and the version of RDF that it requires. */
  readonly digest?: string;
  readonly version?: RdfVersion | undefined;
}

/** Returns the difference of two sorted lists of keys. */
export function difference(before: readonly string[], after: readonly string[]): KeyDifference {
  if (before.length === 0) return { added: after, removed: [] };
  if (after.length === 0) return { added: [], removed: before };
  const added: string[] = [];
  const removed: string[] = [];
  // One pass over both sorted lists: with 18 000 keys a tenth of the time of two sets.
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

/** Applies a change that may add existing keys and remove missing ones. Returns the result, with the effective changes only. */
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

/** Returns the difference of two graphs, which are read in blocks so that neither graph is in memory completely. */
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

/** Reads single keys from blocks: `nextSoon` from the current block, synchronously; `next` from the following block. */
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

/** Returns the index of the last change, in commit order, that contains the whole graph, or -1. */
export const lastWhole = (changes: readonly Laid[]): number => changes.findLastIndex(({ isPart }) => !isPart);

/** Returns whether a graph has a key after changes in commit order; `undefined` if no change concerns the key. */
export function hasAfter(changes: readonly Laid[], key: string): boolean | undefined {
  for (let at = changes.length - 1; at >= 0; at--) {
    const { added, removed, keys, isPart } = changes[at]!;
    if (!isPart) return keys !== undefined && (keys instanceof PackedKeys ? keys.has(key) : hasKey(keys, key));
    if (hasKey(added, key)) return true;
    if (hasKey(removed, key)) return false;
  }
  return undefined;
}

/** Yields the blocks of a graph after partial changes. */
export function overlay(blocks: Blocks, parts: readonly Laid[]): AsyncGenerator<readonly string[]> {
  const last = new Map<string, boolean>();
  for (const { added, removed } of parts) {
    for (const key of removed) last.set(key, false);
    for (const key of added) last.set(key, true);
  }
  return changedBlocks(blocks, last);
}

/** Yields the blocks of a graph after changes. @param changes true for an added key, false for a removed one */
export async function* changedBlocks(
  blocks: Blocks,
  changes: ReadonlyMap<string, boolean>,
): AsyncGenerator<readonly string[]> {
  if (changes.size === 0) return yield* blocks;
  const added: string[] = [];
  for (const [key, isThere] of changes) if (isThere) added.push(key);
  added.sort(compareKeys);
  let at = 0;
  for await (const block of blocks) {
    const result: string[] = [];
    for (const key of block) {
      while (at < added.length && compareKeys(added[at]!, key) < 0) result.push(added[at++]!);
      // Take changed keys from `added` only: the change may be committed by now, so that the block contains them.
      if (changes.get(key) === undefined) result.push(key);
    }
    yield result;
  }
  if (at < added.length) yield added.slice(at);
}
