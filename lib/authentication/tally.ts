/** Counts what strangers have in all storages of a process, by kind and address: identities and names of storages cost nothing. */

/** How many times as much as in one storage strangers may have in all storages together. */
export const inAllStorages = 10;

/** The counts of one kind for one storage. */
export interface Tally {
  /** @param from an address or a digest of one */
  add(from: string, count: 1 | -1): void;
  /** Count in the other storages. @param from absent: of all addresses */
  elsewhere(from?: string): number;
}

const change = (counts: Map<string, number>, key: string, by: number): void => {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
};

export class Tallies {
  private readonly totals = new Map<string, number>();
  /** Kept while a storage is closed: what it stores is there. */
  private readonly byStorage = new Map<string, Map<string, number>>();

  /** Begins to count for a storage that is being opened. */
  of(kind: string, storage: string): Tally {
    const [key, own] = [`${kind} ${storage}`, new Map<string, number>()];
    this.forget(key);
    this.byStorage.set(key, own);
    const ofAll = '';
    return {
      add: (from, count) => {
        // What a closed storage still ends was taken off with it.
        if (this.byStorage.get(key) !== own) return;
        for (const each of [from, ofAll]) {
          change(own, each, count);
          change(this.totals, `${kind} ${each}`, count);
        }
      },
      elsewhere: (from = ofAll) => (this.totals.get(`${kind} ${from}`) ?? 0) - (own.get(from) ?? 0),
    };
  }

  /** Forgets a storage that is removed. */
  remove(storage: string): void {
    for (const key of this.byStorage.keys()) if (key.endsWith(` ${storage}`)) this.forget(key);
  }

  private forget(key: string): void {
    const kind = key.split(' ', 1)[0]!;
    for (const [from, count] of this.byStorage.get(key) ?? []) change(this.totals, `${kind} ${from}`, -count);
    this.byStorage.delete(key);
  }
}
