/** Owners that other owners added at run time, in addition to `lws.owners`. Stored in the database, and cached. */

import { entryKey } from '../storage/keys/records.js';
import { FollowedEntries } from '../storage/transactions/followed-entries.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';

const space = 'owners';

export interface AddedOwner {
  readonly id: string;
  /** Display name of the owner. */
  readonly name: string;
  /** Time when the owner was added, in milliseconds since the epoch. */
  readonly added: number;
  /** Identity that added the owner. */
  readonly by: string;
}

export class AddedOwners {
  private constructor(private readonly known: FollowedEntries<AddedOwner>) {}

  /** Loads the added owners, and follows commits. */
  static async open(store: Store): Promise<AddedOwners> {
    return new AddedOwners(
      await FollowedEntries.open<AddedOwner>(store, { space, read: (value) => JSON.parse(value) as AddedOwner }),
    );
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
