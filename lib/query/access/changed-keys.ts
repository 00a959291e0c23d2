/** Overlays the unwritten changes of an update on the keys of the store, so that later operations read the effects of earlier ones. */
import { lowerBound, mergedKeys } from '../../storage/keys/graph-keys.js';
import { compareKeys, sortKeys } from '../../storage/keys/key-order.js';
import { type IndexName, indexNames, otherKeys } from '../../storage/keys/quad-keys.js';
import { rangeOf } from '../../storage/keys/records.js';
import { bytesPerKey, type KeyIterators, type Seekable } from './key-iterators.js';

export interface KeyChanges {
  /** Added GSPO keys, which the store lacks. */
  readonly added: ReadonlySet<string>;
  /** Removed GSPO keys, which the store has. */
  readonly removed: ReadonlySet<string>;
}

/** @param assertTime called between blocks, throws to stop the query */
export const changedKeys = (base: KeyIterators, changes: KeyChanges, assertTime: () => void): KeyIterators =>
  changes.added.size + changes.removed.size === 0 ? base : new ChangedKeys(base, changes, assertTime);

/** Iterators over a set of keys without a store. Each index is sorted at its first use. */
export const keyLists = (keys: ReadonlySet<string>, assertTime: () => void): KeyIterators =>
  new ChangedKeys(noKeys, { added: keys, removed: new Set() }, assertTime);

async function* nothing(): AsyncGenerator<readonly string[]> {}
const noKeys: KeyIterators = {
  blocks: nothing,
  leaps: nothing,
  steps: nothing,
  lend: (_index, work) => work({ seek() {}, nextv: async () => [], close: async () => {} }),
  hasKey: () => false,
  sizeOf: async () => 0,
  sizeBetween: async () => 0,
  close: async () => {},
};

type Target = () => string | undefined;

class ChangedKeys implements KeyIterators {
  private readonly lists = new Map<string, readonly string[]>();
  private readonly gone = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly base: KeyIterators,
    private readonly changes: KeyChanges,
    private readonly assertTime: () => void,
  ) {}

  blocks(prefix: string): AsyncGenerator<readonly string[]> {
    return this.merged({ prefix, start: prefix }, this.base.blocks(prefix));
  }

  leaps(prefix: string, target: Target): AsyncGenerator<readonly string[]> {
    const leap = new Leap(target);
    return this.merged({ prefix, start: prefix }, this.base.leaps(prefix, leap.target), leap);
  }

  steps(prefix: string, from: string, target: Target): AsyncGenerator<readonly string[]> {
    const leap = new Leap(target);
    return this.merged({ prefix, start: from }, this.base.steps(prefix, from, leap.target), leap);
  }

  lend<T>(index: IndexName, work: (iterator: Seekable) => Promise<T>): Promise<T> {
    return this.base.lend(index, (iterator) => work(this.seekable(iterator, index)));
  }

  hasKey(key: string): boolean {
    const { added, removed } = this.changes;
    return added.has(key) || (!removed.has(key) && this.base.hasKey(key));
  }

  sizeOf(prefix: string): Promise<number> {
    const { gte, lt } = rangeOf(prefix);
    return this.sizeBetween(gte, lt);
  }

  async sizeBetween(from: string, to: string): Promise<number> {
    const list = this.addedTo(from.slice(0, 4));
    return (await this.base.sizeBetween(from, to)) + (lowerBound(list, to) - lowerBound(list, from)) * bytesPerKey;
  }

  close(): Promise<void> {
    return this.base.close();
  }

  private addedTo(index: string): readonly string[] {
    let list = this.lists.get(index);
    if (!list) {
      this.assertTime();
      list = sortKeys(inOrder(this.changes.added, index));
      this.lists.set(index, list);
    }
    return list;
  }

  private removedFrom(index: string): ReadonlySet<string> {
    let gone = this.gone.get(index);
    if (!gone) {
      this.assertTime();
      gone = new Set(inOrder(this.changes.removed, index));
      this.gone.set(index, gone);
    }
    return gone;
  }

  /** Yields the store's blocks without the removed keys, merged with the added keys. */
  private async *merged(
    { prefix, start }: { readonly prefix: string; readonly start: string },
    blocks: AsyncGenerator<readonly string[]>,
    leap?: Leap,
  ): AsyncGenerator<readonly string[]> {
    const index = prefix.slice(0, 4);
    const [list, gone] = [this.addedTo(index), this.removedFrom(index)];
    /** All keys before this one have been yielded. */
    let next = start;
    const leapt = (): void => {
      if (leap?.at !== undefined && compareKeys(leap.at, next) > 0) next = leap.at;
    };
    for await (const keys of blocks) {
      leapt();
      const after = successor(keys.at(-1)!);
      const own = without(keys, gone);
      const block = mergedKeys(own, list.slice(lowerBound(list, next), lowerBound(list, after)));
      next = after;
      leap?.given(block.length > 0);
      if (block.length > 0) yield block;
    }
    leapt();
    const end = lowerBound(list, rangeOf(prefix).lt);
    for (let at = lowerBound(list, next); at < end; ) {
      this.assertTime();
      const block = list.slice(at, Math.min(end, at + keysAtATime));
      yield block;
      const target = leap?.own();
      at = Math.max(at + block.length, target === undefined ? 0 : lowerBound(list, target));
    }
  }

  private seekable(iterator: Seekable, index: IndexName): Seekable {
    const [list, gone] = [this.addedTo(index), this.removedFrom(index)];
    let next = '';
    return {
      seek(target) {
        next = target;
        iterator.seek(target);
      },
      async nextv(size) {
        for (;;) {
          const keys = await iterator.nextv(size);
          const from = lowerBound(list, next);
          const after = keys.length === 0 ? undefined : successor(keys.at(-1)!);
          const added = list.slice(from, after === undefined ? from + size : lowerBound(list, after));
          next = after ?? (added.length > 0 ? successor(added.at(-1)!) : next);
          const block = mergedKeys(without(keys, gone), added);
          if (block.length > 0 || keys.length === 0) return block;
        }
      },
      close: () => iterator.close(),
    };
  }
}

/** Seek target that the consumer sets after a block. Empty blocks are not yielded, so the consumer is not asked after them. */
class Leap {
  /** The last target: the key at which reading continues. */
  at: string | undefined;
  private isGiven = false;

  constructor(readonly own: Target) {}

  given(isGiven: boolean): void {
    this.isGiven = isGiven;
  }

  readonly target: Target = () => {
    if (!this.isGiven) return undefined;
    const target = this.own();
    if (target !== undefined) this.at = target;
    return target;
  };
}

const keysAtATime = 2000;

const inOrder = (keys: ReadonlySet<string>, index: string): string[] => {
  const at = indexNames.indexOf(index as IndexName) - 1;
  return at < 0 ? [...keys] : Array.from(keys, (key) => otherKeys(key)[at]!);
};

const successor = (key: string): string => `${key}\u0000`;

const without = (keys: readonly string[], gone: ReadonlySet<string>): readonly string[] =>
  gone.size === 0 ? keys : keys.filter((key) => !gone.has(key));
