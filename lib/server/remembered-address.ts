/**
 * The address that a data directory was made for. LevelDB has it too, but is open to one process: commands beside a server read it here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../settings.js';
import { writeWhole } from '../storage/engine/synced-files.js';
import { coreSettings } from './core-settings.js';

const fileIn = (folder: string): string => join(folder, 'base-uri');

/** @throws the file system's error */
export function rememberAddress(folder: string, storage: string): void {
  if (rememberedAddress(folder) !== storage) writeWhole(fileIn(folder), `${storage}\n`);
}

/** The root IRI of the storage in a folder; `undefined` where no storage was opened yet. */
function rememberedAddress(folder: string): string | undefined {
  try {
    return readFileSync(fileIn(folder), 'utf8').trim() || undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * The settings with the base URI of the data directory, where nothing else gives one.
 * @param file the settings file that comes with the program: its default is nobody's choice
 * @param told hears of a base URI that was given and is another one, which wins
 */
export function withRemembered(settings: Settings, file: string, told: (sentence: string) => void): Settings {
  const { dataDir, baseUri } = settings.of(coreSettings);
  const remembered = rememberedAddress(dataDir);
  if (remembered === undefined) return settings;
  const { name, default: usual } = coreSettings.baseUri;
  const { source } = settings.all().find(({ setting }) => setting.name === name)!;
  const isGiven = source !== 'default' && !(source === file && baseUri === usual);
  const address = remembered.replace(/\/$/, '');
  if (!isGiven) return settings.with(name, address, `the data directory ${dataDir}`);
  if (baseUri.replace(/\/$/, '') !== address)
    told(`lws.base-uri is ${baseUri} (from ${source}); the storage in ${dataDir} was made for ${remembered}`);
  return settings;
}
