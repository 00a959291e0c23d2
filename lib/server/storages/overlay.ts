/** Settings of one storage of a deployment: the settings of the deployment, overridden by the record of the storage. */
import { join } from 'node:path';
import type { Component } from '../../component/component.js';
import type { StorageRecord } from '../../component/deployment.js';
import { ownRecord, type Settings, SettingsError } from '../../settings/settings.js';
import { LwsError } from '../../tools/errors.js';
import { coreSettings, readBaseUri } from '../settings/core-settings.js';
import { assertUsable } from '../storage/usable-settings.js';
import { Addresses } from './addresses.js';

/** Returns the addresses of a deployment; `undefined` for a single storage. @throws SettingsError */
export function addressesOf(settings: Settings): Addresses | undefined {
  const core = settings.of(coreSettings);
  if (core.storagesAddress === null) return undefined;
  const isOpen = core.devOpen && core.owners.length === 0;
  if (core.store !== null || isOpen)
    throw new SettingsError(
      `lws.storages.address excludes ${isOpen ? 'lws.dev.open, which has no owners' : 'lws.store (several servers of one storage)'}.`,
    );
  return new Addresses(core.storagesAddress, new URL(readBaseUri(core).storage));
}

/** Returns the directory of the records of a deployment. */
export const storageRecordsIn = (settings: Settings): string => join(settings.of(coreSettings).dataDir, 'storages');

/** Base settings of each storage. */
export interface Overlaid {
  readonly settings: Settings;
  readonly addresses: Addresses;
  readonly components: readonly Component[];
}

/** Returns the settings of a storage. @throws SettingsError for a setting that a storage cannot have, and for an invalid value */
export function storageSettings(
  { settings, addresses, components }: Overlaid,
  { name, owners, settings: own }: Pick<StorageRecord, 'name' | 'owners' | 'settings'>,
): Settings {
  const source = ownRecord;
  const core = settings.of(coreSettings);
  let overlaid = settings
    .with(coreSettings.baseUri.name, addresses.of(name), source)
    .with(coreSettings.dataDir.name, join(storageRecordsIn(settings), name), source)
    .with(coreSettings.storagesAddress.name, null, source)
    .with(coreSettings.devOpen.name, false, source)
    .with(coreSettings.quotaBytes.name, core.storagesQuota, 'the deployment')
    .with(coreSettings.owners.name, owners, source);
  for (const [key, raw] of Object.entries(own)) {
    const { setting } = settings.all().find((each) => each.setting.name === key) ?? {};
    if (setting?.scope !== 'storage' || key === coreSettings.owners.name)
      throw new SettingsError(`${key} cannot be set per storage (from ${source}).`);
    const value = setting.parser.parse(raw);
    if (value === undefined)
      throw new SettingsError(
        `${key} is ${JSON.stringify(raw)} (from ${source}); expected ${setting.parser.expectation}.`,
      );
    overlaid = overlaid.with(key, value, source);
  }
  assertUsable(overlaid, components);
  return overlaid;
}

/** Runs `storageSettings` on requested settings. @throws LwsError `malformed-body` */
export function assertSettings(...wanted: Parameters<typeof storageSettings>): void {
  try {
    storageSettings(...wanted);
  } catch (error) {
    throw error instanceof SettingsError ? new LwsError('malformed-body', error.message) : error;
  }
}
