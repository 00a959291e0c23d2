/** Counts resources of unprivileged callers over all storages of a process: anyone can create identities and storages. */
import { addCount } from '../tools/collections.js';

/** Limit for all storages together, as a multiple of the limit of one storage. */
export const inAllStorages = 10;

/** Counts of one kind of resource in one storage. */
export interface Tally {
  /** Adds to the count of an address. @param from address, or its digest */
  add(from: string, count: 1 | -1): void;
  /** Returns the count in the other storages. @param from default: all addresses */
  elsewhere(from?: string): number;
}

export class Tallies {
  private readonly totals = new Map<string, number>();
  /** Counts by storage. They are kept while a storage is closed, because its resources still exist. */
  private readonly byStorage = new Map<string, Map<string, number>>();

  /** Starts counting for a storage that is opened. */
  of(kind: string, storage: string): Tally {
    const [key, own] = [`${kind} ${storage}`, new Map<string, number>()];
    this.forget(key);
    this.byStorage.set(key, own);
    const ofAll = '';
    return {
      add: (from, count) => {
        // Ignored: the storage was opened again, with new counts, or was deleted.
        if (this.byStorage.get(key) !== own) return;
        for (const each of [from, ofAll]) {
          addCount(own, each, count);
          addCount(this.totals, `${kind} ${each}`, count);
        }
      },
      elsewhere: (from = ofAll) => (this.totals.get(`${kind} ${from}`) ?? 0) - (own.get(from) ?? 0),
    };
  }

  /** Removes the counts of a deleted storage. */
  remove(storage: string): void {
    for (const key of this.byStorage.keys()) if (key.endsWith(` ${storage}`)) this.forget(key);
  }

  private forget(key: string): void {
    const kind = key.split(' ', 1)[0]!;
    for (const [from, count] of this.byStorage.get(key) ?? []) addCount(this.totals, `${kind} ${from}`, -count);
    this.byStorage.delete(key);
  }
}
