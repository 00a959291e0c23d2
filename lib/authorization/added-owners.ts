/**
 * Owners that other owners added while the server runs, beside those of `lws.owners`: kept in the store, and known in memory as they
 * are committed. It must not know who may add one.
 */

import { entryKey } from '../storage/keys/records.js';
import { FollowedEntries } from '../storage/transactions/followed-entries.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';

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
  private constructor(private readonly known: FollowedEntries<AddedOwner>) {}

  /** Reads which there are, and follows what is committed. */
  static async open(store: Store): Promise<AddedOwners> {
    return new AddedOwners(await FollowedEntries.open<AddedOwner>(store, { space, read: JSON.parse }));
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
