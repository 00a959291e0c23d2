/** Keeps the entries of one space in memory, by name: loads them once and updates them on commit. */
import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import { differenceOf, returnedEntriesOf } from '../level/entry-digests.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

export interface FollowedOptions<T> {
  /** Name of the space. Keys in this space have one more part, the name of the entry. */
  readonly space: string;
  /** Returns the parsed value, or `undefined` for an entry that is not kept. */
  readonly read: (value: string, name: string) => T | undefined;
  /** Called for each entry loaded or committed. For a deleted entry, `after` is `undefined`. */
  readonly changed?: (name: string, before: T | undefined, after: T | undefined) => void;
  /** True to track uncommitted entries too, see `current`. */
  readonly followsStaged?: boolean;
}

/**
 * Compares the entries of a space with their digest.
 * @returns deleted entries that LevelDB has returned, which are removed; `undefined` if no entry can be trusted
 */
async function returnedEntries(
  { level, returned }: Store,
  space: string,
): Promise<ReadonlyMap<string, string> | undefined> {
  const difference = await differenceOf(level, space);
  if (!difference) return new Map();
  const found = await returnedEntriesOf(level, space, difference);
  if (found) returned.removeEntries(found);
  else returned.damaged(`The entries of ${space} differ from what was written. The server uses none of them.`);
  return found;
}

export class FollowedEntries<T> {
  private readonly known = new Map<string, T>();
  /** Last uncommitted value by name, with its transaction; `undefined` for a deletion. */
  private readonly staged = new Map<string, { readonly tx: Transaction; readonly value: T | undefined }>();

  private readonly prefix: string;

  private constructor(private readonly options: FollowedOptions<T>) {
    this.prefix = entryKey(options.space, '');
  }

  /** Loads existing entries and follows commits. */
  static async open<T>(store: Store, options: FollowedOptions<T>): Promise<FollowedEntries<T>> {
    const all = new FollowedEntries(options);
    const returned = await returnedEntries(store, options.space);
    for await (const entries of returned ? store.entries(entryRange(options.space)) : [])
      for (const [key, value] of entries) {
        const name = partsOfEntry(key)[1]!;
        if (returned?.get(key) !== value) all.set(name, options.read(value, name));
      }
    // A later transaction may have staged the entry again.
    const settle = (tx: Transaction, name: string): void => {
      if (all.staged.get(name)?.tx === tx) all.staged.delete(name);
    };
    if (options.followsStaged) {
      store.onStage((tx) => all.each(tx, (name, value) => all.staged.set(name, { tx, value })));
      store.onDrop((tx) => all.each(tx, (name) => settle(tx, name)));
    }
    store.onCommit((tx) =>
      all.each(tx, (name, value) => {
        settle(tx, name);
        all.set(name, value);
      }),
    );
    return all;
  }

  get(name: string): T | undefined {
    return this.known.get(name);
  }

  has(name: string): boolean {
    return this.known.has(name);
  }

  names(): Iterable<string> {
    return this.known.keys();
  }

  values(): Iterable<T> {
    return this.known.values();
  }

  /** Yields the current values, including changes of pending transactions. */
  *current(): Iterable<T> {
    for (const [name, value] of this.known) if (!this.staged.has(name)) yield value;
    for (const { value } of this.staged.values()) if (value !== undefined) yield value;
  }

  /** Returns a current value, including changes of pending transactions. */
  latest(name: string): T | undefined {
    const staged = this.staged.get(name);
    return staged ? staged.value : this.known.get(name);
  }

  /** True if there are no entries, including pending entries. */
  get isEmpty(): boolean {
    return this.known.size === 0 && this.staged.size === 0;
  }

  private each({ entries }: Transaction, work: (name: string, value: T | undefined) => void): void {
    const { prefix, options } = this;
    for (const [key, value] of entries)
      if (key.startsWith(prefix)) {
        const name = key.slice(prefix.length);
        work(name, value === null ? undefined : options.read(value, name));
      }
  }

  private set(name: string, after: T | undefined): void {
    const before = this.known.get(name);
    if (after === undefined) this.known.delete(name);
    else this.known.set(name, after);
    this.options.changed?.(name, before, after);
  }
}
