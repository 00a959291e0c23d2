/** Index that every transaction updates. If the index was switched off for a time, it is rebuilt. */
import { StagedNames } from '../../../lib/storage/graphs/staged-keys.js';
import { declareDerivedEntries } from '../../../lib/storage/keys/derived-entries.js';
import { featureOf, featuresKey, readFeatures } from '../../../lib/storage/keys/features.js';
import { entryRange, partsOfEntry, type ResourceRecord } from '../../../lib/storage/keys/records.js';
import { countRecords, recordBlocks } from '../../../lib/storage/level/all-records.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import type { Transaction } from '../../../lib/storage/transactions/transaction.js';
import { slices } from '../../../lib/tools/collections.js';

type Entries = Iterable<readonly [key: string, value: string]>;

export interface IndexDefinition {
  /** Name in messages, for example `text index`. */
  readonly name: string;
  /** Key and value of the entry that exists while the index is complete. The value changes with the format. */
  readonly stateKey: string;
  readonly state: string;
  /** Entry spaces of the index. */
  readonly spaces: readonly string[];
  /** Prepares the computation of entries. Called before `entriesOf`. */
  prepare?(): Promise<void>;
  /** Yields the entries of a resource in its committed state, in blocks. */
  entriesOf(store: Store, record: ResourceRecord): AsyncIterable<Entries>;
  /** Called by a background rebuild before it writes the last entries of a resource. Removes the entries that these replace. */
  replaced?(tx: Transaction, iri: string): void;
  /** True if two values of an entry are equivalent. Default: if they are equal. */
  isSame?(found: string | undefined, expected: string): boolean;
}

const entriesAtATime = 5_000;

/** Indexes of all components in this process, including disabled ones. */
export const allIndexes: MaintainedIndex[] = [];

export class MaintainedIndex {
  constructor(readonly definition: IndexDefinition) {
    allIndexes.push(this);
    declareDerivedEntries((key) => this.has(key));
  }

  get name(): string {
    return this.definition.name;
  }

  /** True if an entry belongs to this index. Copies of the storage do not contain such entries, but rebuild them. */
  has(key: string): boolean {
    const { spaces, stateKey } = this.definition;
    return key === stateKey || spaces.includes(partsOfEntry(key)[0]!);
  }

  /** True if the index is complete. Otherwise it must be rebuilt before use. */
  isComplete(store: Store): boolean {
    return store.entry(this.definition.stateKey) === this.definition.state;
  }

  /** Marks the index as outdated when it is disabled. */
  async abandon(store: Store): Promise<void> {
    const { stateKey } = this.definition;
    const feature = featureOf(stateKey);
    // A rebuild that was interrupted leaves entries, but no state.
    const isListed = feature !== undefined && readFeatures(store.entry(featuresKey)).has(feature);
    if (store.entry(stateKey) === undefined && !isListed) return;
    const forget = (tx: Transaction): void => {
      tx.deleteEntry(stateKey);
      tx.endFeature(feature);
    };
    await store.transact(forget, { frees: true });
  }

  /**
   * Rebuilds the index from all resources. Requires that no other transaction runs. If interrupted,
   * the next start begins again.
   * @returns the count of indexed resources
   */
  async rebuild(store: Store, progress: (done: number, total: number) => void): Promise<number> {
    const { stateKey, state, spaces } = this.definition;
    await this.definition.prepare?.();
    await this.abandon(store);
    for (const space of spaces) await clear(store, space);
    const total = await countRecords(store);
    let pending: (readonly [string, string])[] = [];
    const flush = async (): Promise<void> => {
      const entries = pending;
      pending = [];
      await store.transact((tx) => {
        for (const [key, value] of entries) tx.putEntry(key, value);
      });
    };
    let done = 0;
    for await (const records of recordBlocks(store))
      for (const record of records) {
        for await (const entries of this.definition.entriesOf(store, record)) {
          for (const entry of entries) pending.push(entry);
          if (pending.length >= entriesAtATime) await flush();
        }
        done++;
        if (done % 200 === 0) progress(done, total);
      }
    await flush();
    progress(done, total);
    await store.transact((tx) => tx.putEntry(stateKey, state));
    return done;
  }

  /** Compares the index with its sources. @returns one sentence for each fault */
  async *faultsOf(store: Store): AsyncGenerator<string> {
    if (!this.isComplete(store)) return;
    const { name, spaces, entriesOf, isSame = (found, expected) => found === expected } = this.definition;
    await this.definition.prepare?.();
    // Entries of graphs that are being written or removed belong to no resource. Ignore them.
    const staged = await StagedNames.of(store);
    const ignores = (key: string): boolean => staged.size > 0 && partsOfEntry(key).some((part) => staged.has(part));
    let expected = 0;
    for await (const records of recordBlocks(store))
      for (const record of records)
        for await (const entries of entriesOf(store, record))
          for (const [key, value] of entries) {
            if (!ignores(key)) expected++;
            if (!isSame(store.entry(key), value)) yield `The ${name} lacks ${JSON.stringify(key)}.`;
          }
    let found = 0;
    for (const space of spaces)
      for await (const entries of store.entries(entryRange(space)))
        for (const [key] of entries) if (!ignores(key)) found++;
    if (found !== expected) yield `The ${name} has ${found} entries instead of ${expected}.`;
  }
}

/** Removes the entries of a space. Requires that no entries are added meanwhile. @throws the reason of the signal */
export async function clear(store: Store, space: string, signal?: AbortSignal): Promise<void> {
  // Use one iterator: a new iterator would first skip the tombstones of all removed entries.
  for await (const entries of store.keys(entryRange(space)))
    for (const some of slices(entries, entriesAtATime)) {
      signal?.throwIfAborted();
      const remove = (tx: Transaction): void => {
        for (const key of some) tx.deleteEntry(key);
      };
      await store.transact(remove, { frees: true });
    }
}
