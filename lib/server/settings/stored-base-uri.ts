/** Stores base URIs in files of the data directory, for commands: only one process can open LevelDB. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Settings, SettingsError } from '../../settings/settings.js';
import { writeWhole } from '../../storage/level/synced-files.js';
import { coreSettings } from './core-settings.js';

/** Settings stored in a data directory, by file name. */
const kept = { 'base-uri': coreSettings.baseUri, 'storages-address': coreSettings.storagesAddress } as const;
type Kept = keyof typeof kept;

/**
 * Stores an address. @param address `null` to delete it @throws SettingsError if the file is unreadable; the file system's
 * error
 */
export function rememberAddress(folder: string, address: string | null, name: Kept = 'base-uri'): void {
  if (address === null) rmSync(join(folder, name), { force: true });
  else if (rememberedAddress(folder, name) !== address) writeWhole(join(folder, name), `${address}\n`);
}

/**
 * Returns the root IRI of the storage in a directory, or the address template. `undefined` if no storage was opened yet.
 * @throws SettingsError
 */
function rememberedAddress(folder: string, name: Kept): string | undefined {
  try {
    return readFileSync(join(folder, name), 'utf8').trim() || undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new SettingsError(`The data directory ${folder} cannot be read (${message}). Choose another lws.data-dir.`);
  }
}

/**
 * Adds the addresses stored in the data directory, unless they are set.
 * @param file the settings file of the program: its defaults do not count as set
 * @param told called if an address is set to another value, which takes precedence
 */
export function withRemembered(settings: Settings, file: string, told: (sentence: string) => void): Settings {
  const { dataDir, listenPort } = settings.of(coreSettings);
  let effective = settings;
  for (const [fileName, { name, default: usual }] of Object.entries(kept)) {
    const remembered = rememberedAddress(dataDir, fileName as Kept);
    const found = settings.all().find(({ setting }) => setting.name === name)!;
    const [source, value] = [found.source, found.value as string | null];
    const isGiven = source !== 'default' && !(source === file && value === usual);
    if (remembered === undefined) {
      // Use the port: otherwise, clients would send credentials to another program that may listen on the default port.
      if (fileName === 'base-uri' && !isGiven && listenPort)
        effective = effective.with(name, `http://localhost:${listenPort}`, coreSettings.listenPort.name);
      continue;
    }
    const address = fileName === 'base-uri' ? remembered.replace(/\/$/, '') : remembered;
    if (!isGiven) effective = effective.with(name, address, `the data directory ${dataDir}`);
    else if (value?.replace(/\/$/, '') !== address.replace(/\/$/, ''))
      told(`${name} is ${value} (from ${source}), but the storage in ${dataDir} was created for ${remembered}`);
  }
  return effective;
}
