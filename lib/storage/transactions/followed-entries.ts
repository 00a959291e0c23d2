/** The entries of one space in memory, each by its name: read once, and kept as they are committed. */
import { entryKey, entryRange, partsOfEntry } from '../keys/records.js';
import type { Store } from './store.js';
import type { Transaction } from './transaction.js';

export interface FollowedOptions<T> {
  /** The name of the space, whose keys have one further part. */
  readonly space: string;
  readonly read: (value: string) => T;
  /** Told of each that is read or committed; of one that is gone, `after` is `undefined`. */
  readonly changed?: (name: string, before: T | undefined, after: T | undefined) => void;
  /** Also knows what is on its way to the disk, see `current`. */
  readonly followsStaged?: boolean;
}

export class FollowedEntries<T> {
  private readonly known = new Map<string, T>();
  /** What is on its way to the disk; `undefined`: its deletion. */
  private readonly staged = new Map<string, T | undefined>();

  private readonly prefix: string;

  private constructor(private readonly options: FollowedOptions<T>) {
    this.prefix = entryKey(options.space, '');
  }

  /** Reads which there are, and follows what is committed. */
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

  /** As the transactions under way will leave them. */
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
