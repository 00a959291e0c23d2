/** Owner that a storage without configured owners generates, with its key file. */
import { existsSync } from 'node:fs';
import { SettingsError } from '../../settings/settings.js';
import { entryKey } from '../../storage/keys/records.js';
import type { Store } from '../../storage/transactions/store.js';
import { keptIdentity } from './owner-credential.js';

const entry = entryKey('own-owner', 'did');

/**
 * Returns the owner of the key in a file. The first start generates the key.
 * @throws SettingsError if the storage has had such an owner and the key is missing: a new owner could be an attacker, and
 * resources of the old one would have no owner
 */
export async function localOwner(store: Store, file: string): Promise<string> {
  const known = store.entry(entry);
  if (known !== undefined && !existsSync(file))
    throw new SettingsError(
      `The key of the storage's owner ${known} is missing: ${file}. Restore it from a backup, or name another owner in lws.owners. ` +
        `To create a new owner: quadpod owner --new-key ${file}.`,
    );
  const { did } = keptIdentity(file);
  if (did !== known) await store.transact((tx) => tx.putEntry(entry, did));
  return did;
}
