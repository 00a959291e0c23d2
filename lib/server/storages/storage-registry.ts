/** Creates, changes and removes storages of a deployment: used by commands with or without a running server, and by the server. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isIdentity } from '../../authorization/did.js';
import type { Component } from '../../component/component.js';
import type { StorageChange, StorageRecord, Storages } from '../../component/deployment.js';
import { type Settings, SettingsError } from '../../settings/settings.js';
import { syncPath } from '../../storage/level/synced-files.js';
import { LwsError } from '../../tools/errors.js';
import { coreSettings } from '../settings/core-settings.js';
import { blobPlaceOf } from '../storage/open-store.js';
import { type Addresses, isStorageName } from './addresses.js';
import { addressesOf, assertSettings, type Overlaid, storageRecordsIn, storageSettings } from './overlay.js';
import { newId, StorageRecords } from './storage-records.js';
import { assertTemplate, giveTemplate, laying, layTemplate, templatesIn } from './templates.js';

/** Removal time of a storage that cannot be restored. */
export const forGood = new Date(0).toISOString();

/** Reserved names, which users would take for parts of the deployment itself. */
const reserved = ['www', 'api', 'app', 'admin', 'mail', 'home', 'callback'];

export class StorageRegistry implements Storages, Overlaid {
  readonly records: StorageRecords;
  /** Called to apply a change in the server that has made it. Other servers watch the records. */
  onChanged: (name: string) => Promise<void> = async () => {};

  /**
   * Returns the registry for the settings; `undefined` for a single storage.
   * @param onTrouble as for `StorageRecords`
   * @throws SettingsError, LwsError `conflict`
   */
  static of(
    settings: Settings,
    components: readonly Component[],
    onTrouble?: (error: unknown) => void,
  ): StorageRegistry | undefined {
    const addresses = addressesOf(settings);
    const takes = (each: Component): boolean =>
      each.takesTemplates === true && each.isEnabled(settings.of(each.settings));
    if (addresses && settings.of(coreSettings).storagesTemplates !== null && !components.some(takes))
      throw new SettingsError(
        'lws.storages.templates requires lws.transfer.enabled: a new storage imports its template.',
      );
    if (addresses && blobPlaceOf(settings, components))
      throw new SettingsError(
        'lws.storages.address excludes lws.blobs: all storages would share one location for their contents.',
      );
    return addresses && new StorageRegistry({ settings, components, addresses }, onTrouble);
  }

  readonly settings: Settings;
  readonly components: readonly Component[];
  readonly addresses: Addresses;

  private constructor(overlaid: Overlaid, onTrouble?: (error: unknown) => void) {
    ({ settings: this.settings, components: this.components, addresses: this.addresses } = overlaid);
    this.records = new StorageRecords(storageRecordsIn(this.settings), onTrouble);
  }

  all(): readonly StorageRecord[] {
    return this.records.all();
  }

  get(name: string): StorageRecord | undefined {
    return this.records.get(name);
  }

  addressOf(name: string): string {
    return `${this.addresses.of(name)}/`;
  }

  async change(name: string, wanted: StorageChange): Promise<StorageRecord> {
    const { settings, addresses, records } = this;
    const { storagesMax, storagesReserved, storagesTemplates: from } = settings.of(coreSettings);
    const taken = [...reserved, ...storagesReserved];
    if (!isStorageName(name) || taken.includes(name) || addresses.isOfHome(name))
      throw new LwsError(
        'reserved-name',
        `${JSON.stringify(name)} is not a valid storage name. Use 1-63 lowercase letters, digits and hyphens, not starting or ending with a hyphen. Reserved: the name in lws.base-uri and ${taken.join(', ')}.`,
      );
    const { template } = wanted;
    const decided = (present: StorageRecord | undefined): Omit<StorageRecord, 'revision'> => {
      if (!present && records.size >= storagesMax)
        throw new LwsError('quota-exceeded', `The limit of ${storagesMax} storages is reached (lws.storages.max).`);
      const next = changed(name, present, { ...wanted, ...this.typed(wanted) });
      if (present && template !== undefined)
        throw new LwsError('malformed-body', 'Only a new storage can have a template.');
      // Do not check other changes, so that storages with invalid records (of another version) can be suspended and removed.
      if (next.state === 'ready' || wanted.settings || wanted.owners) assertSettings(this, next);
      return next;
    };
    const [to, folder] = [join(records.folder, laying, newId()), records.folderOf(name)];
    try {
      // Copy the template before the record is locked, because copying may exceed the lock timeout.
      if (template !== undefined) {
        const next = decided(this.get(name));
        const { quotaBytes } = storageSettings(this, next).of(coreSettings);
        const values = { name, owner: next.owners[0], storage: this.addressOf(name) };
        await layTemplate({ from, template, to, quotaBytes, values });
      }
      const record = await records.change(name, (present) => {
        const next = decided(present);
        if (!present) giveTemplate(to, folder);
        return next;
      });
      if (template !== undefined) await syncPath(folder);
      await this.onChanged(name);
      return record!;
    } finally {
      if (template !== undefined) await rm(to, { recursive: true, force: true });
    }
  }

  /** Parses settings from text, because a command line has no other types. Invalid values are rejected later. */
  private typed({ settings: given }: StorageChange): Pick<StorageChange, 'settings'> {
    if (!given) return {};
    const parsers = new Map(this.settings.all().map(({ setting }) => [setting.name, setting.parser]));
    const typed = ([key, raw]: [string, unknown]) => [key, raw === null ? raw : (parsers.get(key)?.parse(raw) ?? raw)];
    return { settings: Object.fromEntries(Object.entries(given).map(typed)) };
  }

  async assertCanBegin({ settings = {}, template }: StorageChange): Promise<void> {
    if (template !== undefined) await assertTemplate(template, this.settings.of(coreSettings).storagesTemplates);
    assertSettings(this, changed('any', undefined, { settings, revision: null }));
  }

  templates(): Promise<readonly string[]> {
    return templatesIn(this.settings.of(coreSettings).storagesTemplates);
  }
}

/** Returns the record after a change. @throws LwsError if the change is not allowed */
function changed(
  name: string,
  present: StorageRecord | undefined,
  { owners, settings = {}, state = present?.state ?? 'ready', revision, isForGood, invitation }: StorageChange,
): Omit<StorageRecord, 'revision'> {
  if (revision === null && present) throw new LwsError('already-exists', `The storage ${name} already exists.`);
  if (!present && revision !== null) throw new LwsError('not-found', `The storage ${name} does not exist.`);
  if (typeof revision === 'string' && present?.revision !== revision)
    throw new LwsError('precondition-failed', 'The record of the storage has changed meanwhile.');
  if (present?.deleted === forGood && state !== 'deleted')
    throw new LwsError('conflict', `The storage ${name} is being deleted permanently.`);
  for (const owner of owners ?? [])
    if (!isIdentity(owner))
      throw new LwsError(
        'malformed-body',
        `${JSON.stringify(owner)} is not a valid owner. Use a URI, or a complete did:key.`,
      );
  const isOwned = present && owners && [...owners].sort().join(' ') !== [...present.owners].sort().join(' ');
  const now = new Date().toISOString();
  const { deleted: _deleted, ...before } = present ?? { id: newId(), owners: [], settings: {}, created: now };
  const kept = Object.entries({ ...before.settings, ...settings }).filter(([, value]) => value !== null);
  return {
    ...before,
    name,
    owners: owners ?? before.owners,
    settings: Object.fromEntries(kept),
    state,
    ...(isOwned ? { ownersChange: newId() } : {}),
    ...(invitation === undefined ? {} : { invitation }),
    ...(state === 'deleted' ? { deleted: isForGood ? forGood : (present?.deleted ?? now) } : {}),
  };
}

/** Returns the settings of a storage of a deployment, for commands. @throws SettingsError if there is no such storage */
export function settingsOfStorage(settings: Settings, name: string, components: readonly Component[]): Settings {
  const registry = StorageRegistry.of(settings, components);
  const record = registry?.get(name);
  if (record) return storageSettings(registry!, record);
  throw new SettingsError(
    registry
      ? `${registry.records.folder} contains no storage ${name}. "quadpod storage list" lists them.`
      : '--storage names a storage of a deployment, which requires lws.storages.address.',
  );
}
