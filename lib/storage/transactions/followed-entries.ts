/** Entries of one space in memory by name, loaded once and updated on commit. */
import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

export interface FollowedOptions<T> {
  /** Name of the space. Its keys have one further part. */
  readonly space: string;
  readonly read: (value: string) => T;
  /** Called for each entry loaded or committed. For a deleted one `after` is `undefined`. */
  readonly changed?: (name: string, before: T | undefined, after: T | undefined) => void;
  /** Also tracks uncommitted entries, see `current`. */
  readonly followsStaged?: boolean;
}

export class FollowedEntries<T> {
  private readonly known = new Map<string, T>();
  /** Value being committed; `undefined` for a deletion. */
  private readonly staged = new Map<string, T | undefined>();

  private readonly prefix: string;

  private constructor(private readonly options: FollowedOptions<T>) {
    this.prefix = entryKey(options.space, '');
  }

  /** Loads existing entries and follows commits. */
  static async open<T>(store: Store, options: FollowedOptions<T>): Promise<FollowedEntries<T>> {
    const all = new FollowedEntries(options);
    for await (const entries of store.entries(entryRange(options.space)))
      for (const [key, value] of entries) all.set(partsOfEntry(key)[1]!, options.read(value));
    if (options.followsStaged) {
      store.onStage((tx) => all.each(tx, (name, value) => all.staged.set(name, value)));
      store.onDrop((tx) => all.each(tx, (name) => all.staged.delete(name)));
    }
    store.onCommit((tx) =>
      all.each(tx, (name, value) => {
        all.staged.delete(name);
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

  /** State after the pending transactions. */
  *current(): Iterable<T> {
    for (const [name, value] of this.known) if (!this.staged.has(name)) yield value;
    for (const value of this.staged.values()) if (value !== undefined) yield value;
  }

  private each({ entries }: Transaction, work: (name: string, value: T | undefined) => void): void {
    const { prefix, options } = this;
    for (const [key, value] of entries)
      if (key.startsWith(prefix)) work(key.slice(prefix.length), value === null ? undefined : options.read(value));
  }

  private set(name: string, after: T | undefined): void {
    const before = this.known.get(name);
    if (after === undefined) this.known.delete(name);
    else this.known.set(name, after);
    this.options.changed?.(name, before, after);
  }
}
