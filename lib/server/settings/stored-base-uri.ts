/**
 * The addresses that a data directory was made for. LevelDB is open to one process: commands beside a server read them here.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Settings, SettingsError } from '../../settings.js';
import { writeWhole } from '../../storage/level/synced-files.js';
import { coreSettings } from './core-settings.js';

/** Settings that a data directory keeps, by the name of the file that has the value. */
const kept = { 'base-uri': coreSettings.baseUri, 'storages-address': coreSettings.storagesAddress } as const;
type Kept = keyof typeof kept;

/** @param address `null`: there is none @throws SettingsError for a file that cannot be read, and the file system's error */
export function rememberAddress(folder: string, address: string | null, name: Kept = 'base-uri'): void {
  if (address === null) rmSync(join(folder, name), { force: true });
  else if (rememberedAddress(folder, name) !== address) writeWhole(join(folder, name), `${address}\n`);
}

/** The root IRI of the storage in a folder, or the addresses of others; `undefined` where no storage was opened yet. @throws SettingsError */
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
 * The settings with the addresses of the data directory, where nothing else gives them.
 * @param file the settings file that comes with the program: its defaults are nobody's choice
 * @param told hears of an address that was given and is another one, which wins
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
      // Clients would send their credentials to whatever has the usual port.
      if (fileName === 'base-uri' && !isGiven && listenPort)
        effective = effective.with(name, `http://localhost:${listenPort}`, coreSettings.listenPort.name);
      continue;
    }
    const address = fileName === 'base-uri' ? remembered.replace(/\/$/, '') : remembered;
    if (!isGiven) effective = effective.with(name, address, `the data directory ${dataDir}`);
    else if (value?.replace(/\/$/, '') !== address.replace(/\/$/, ''))
      told(`${name} is ${value} (from ${source}); the storage in ${dataDir} was made for ${remembered}`);
  }
  return effective;
}
