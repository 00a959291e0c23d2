/** The owner that a storage without configured owners makes for itself, and keeps the key of beside the database. */
import { existsSync } from 'node:fs';
import { SettingsError } from '../../settings.js';
import { entryKey } from '../../storage/keys/records.js';
import type { Store } from '../../storage/transactions/store.js';
import { keptIdentity } from './owner-credential.js';

const entry = entryKey('own-owner', 'did');

/**
 * The owner of the key in a file, which is made at the first start.
 * @throws SettingsError when the storage has had such an owner and its key is gone: a new owner could not be told from a thief, and
 *   what the earlier one made would be nobody's
 */
export async function localOwner(store: Store, file: string): Promise<string> {
  const known = store.entry(entry);
  if (known !== undefined && !existsSync(file))
    throw new SettingsError(
      `The key of the storage's owner ${known} is missing: ${file}. Restore it from a backup, or name another owner in lws.owners. ` +
        `To give the storage to a new owner: quadpod owner --new-key ${file}.`,
    );
  const { did } = keptIdentity(file);
  if (did !== known) await store.transact((tx) => tx.putEntry(entry, did));
  return did;
}
