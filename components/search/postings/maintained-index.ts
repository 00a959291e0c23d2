/** An index of entries that every transaction keeps up to date, and that is rebuilt after it was switched off. */
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
  /** Name in messages: `index`. */
  readonly name: string;
  /** Key of the entry that exists while the index is complete, and its value, which changes with the format. */
  readonly stateKey: string;
  readonly state: string;
  /** Spaces of its entries. */
  readonly spaces: readonly string[];
  /** Called before `entriesOf`. */
  prepare?(): Promise<void>;
  /** Yields the entries of a resource in its committed state, in blocks. */
  entriesOf(store: Store, record: ResourceRecord): AsyncIterable<Entries>;
  /** Called before the last entries of a resource are put by a background rebuild. Removes entries that they replace. */
  replaced?(tx: Transaction, iri: string): void;
  /** True if two values of an entry mean the same. */
  isSame?(found: string | undefined, expected: string): boolean;
}

const entriesAtATime = 5_000;

/** All indexes of the components of this process, also of those that are off. */
export const allIndexes: MaintainedIndex[] = [];

export class MaintainedIndex {
  constructor(readonly definition: IndexDefinition) {
    allIndexes.push(this);
    declareDerivedEntries((key) => this.has(key));
  }

  get name(): string {
    return this.definition.name;
  }

  /** True if an entry is of this index. Such entries are not copied to another address, but rebuilt there. */
  has(key: string): boolean {
    const { spaces, stateKey } = this.definition;
    return key === stateKey || spaces.includes(partsOfEntry(key)[0]!);
  }

  /** True if the index is complete. Otherwise it must be rebuilt before use. */
  isComplete(store: Store): boolean {
    return store.entry(this.definition.stateKey) === this.definition.state;
  }

  /** Marks the index as outdated while it is switched off. */
  async abandon(store: Store): Promise<void> {
    const { stateKey } = this.definition;
    const feature = featureOf(stateKey);
    // A rebuild that did not end left entries without a state.
    const isListed = feature !== undefined && readFeatures(store.entry(featuresKey)).has(feature);
    if (store.entry(stateKey) === undefined && !isListed) return;
    const forget = (tx: Transaction): void => {
      tx.deleteEntry(stateKey);
      tx.endFeature(feature);
    };
    await store.transact(forget, { frees: true });
  }

  /**
   * Rebuilds the index from all resources, without concurrent writers. If interrupted, the next start begins again.
   * @returns the number of indexed resources
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
    // No resource explains the entries of graphs that are being written or removed.
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

/** Removes the entries of a space, to which none are added meanwhile. @throws the reason of the signal */
export async function clear(store: Store, space: string, signal?: AbortSignal): Promise<void> {
  // One iterator: others would begin with all entries that were removed.
  for await (const entries of store.keys(entryRange(space)))
    for (const some of slices(entries, entriesAtATime)) {
      signal?.throwIfAborted();
      const remove = (tx: Transaction): void => {
        for (const key of some) tx.deleteEntry(key);
      };
      await store.transact(remove, { frees: true });
    }
}
