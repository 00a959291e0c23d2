/**
 * Owners that other owners added while the server runs, beside those of `lws.owners`: kept in the store, and known in memory as they
 * are committed. It must not know who may add one.
 */

import type { Store } from '../storage/engine/store.js';
import type { Transaction } from '../storage/engine/transaction.js';
import { entryKey, entryRange, partsOfEntry } from '../storage/state/records.js';

const space = 'owners';

export interface AddedOwner {
  readonly id: string;
  /** What people call it. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly added: number;
  /** Who added it. */
  readonly by: string;
}

export class AddedOwners {
  private readonly known = new Map<string, AddedOwner>();

  /** Reads which there are, and follows what is committed. */
  static async open(store: Store): Promise<AddedOwners> {
    const owners = new AddedOwners();
    for await (const entries of store.entries(entryRange(space)))
      for (const [key, value] of entries) owners.known.set(partsOfEntry(key)[1]!, JSON.parse(value) as AddedOwner);
    const prefix = entryKey(space, '');
    store.onCommit(({ entries }) => {
      for (const [key, value] of entries) {
        if (!key.startsWith(prefix)) continue;
        if (value === null) owners.known.delete(key.slice(prefix.length));
        else owners.known.set(key.slice(prefix.length), JSON.parse(value) as AddedOwner);
      }
    });
    return owners;
  }

  has(subject: string): boolean {
    return this.known.has(subject);
  }

  get all(): readonly AddedOwner[] {
    return [...this.known.values()];
  }

  stage(tx: Transaction, owner: AddedOwner): void {
    tx.putEntry(entryKey(space, owner.id), JSON.stringify(owner));
  }

  stageRemoval(tx: Transaction, id: string): void {
    tx.deleteEntry(entryKey(space, id));
  }
}
