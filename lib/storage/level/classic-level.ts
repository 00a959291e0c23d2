/**
 * classic-level with the LevelDB of this package, or of `leveldb --compile`, if one loads, otherwise with the one that npm
 * installed (decision 168).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, sep } from 'node:path';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type * as Package from 'classic-level';
import { packageRoot } from '../../tools/threads/package-root.js';

/** Directories with our LevelDB. The first that loads is used. classic-level reads `variable` when it is loaded. */
const folders = ['leveldb', 'leveldb/compiled'].map((name) => join(packageRoot, name));
const variable = 'CLASSIC_LEVEL_PREBUILD';
const requireHere = createRequire(import.meta.url);

interface Choice {
  /** Directory of the LevelDB. Absent: npm's LevelDB, or the LevelDB of a program that loaded classic-level before. */
  readonly folder?: string;
  /** Reasons why our LevelDB could not be loaded. */
  readonly faults: readonly string[];
}

/** Loads classic-level. The variable is deleted afterwards, because other code may have another version of classic-level. */
function load(folder?: string): typeof Package {
  if (folder === undefined) return requireHere('classic-level');
  process.env[variable] = folder;
  try {
    return requireHere('classic-level');
  } finally {
    delete process.env[variable];
  }
}

/** Returns the file that classic-level would load from a directory; undefined if there is none for this platform. */
function fileIn(folder: string): string | undefined {
  const builds = createRequire(requireHere.resolve('classic-level'))('node-gyp-build') as {
    path(folder: string): string;
  };
  try {
    const file = builds.path(folder);
    return file.startsWith(folder + sep) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Checks the digest of a file, because loading a damaged one could crash the process. @throws Error for another digest */
function assertWhole(folder: string, file: string): void {
  const prebuilds = join(folder, 'prebuilds');
  if (!file.startsWith(prebuilds + sep)) return;
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  const name = relative(prebuilds, file).replaceAll(sep, '/');
  if (!readFileSync(join(prebuilds, 'SHA256SUMS'), 'utf8').split('\n').includes(`${sum}  ${name}`))
    throw new Error('The file is damaged: its digest is not that in SHA256SUMS.');
}

function choose(): Choice {
  const faults: string[] = [];
  const isLoaded = requireHere.cache[requireHere.resolve('classic-level/binding.js')] !== undefined;
  if (isLoaded || process.env[variable] !== undefined) return { faults };
  for (const folder of folders) {
    const file = fileIn(folder);
    if (file === undefined) continue;
    try {
      assertWhole(folder, file);
      load(folder);
      return { folder, faults };
    } catch (error) {
      faults.push(`${file} cannot be used: ${(error as Error).message.replace(/\.$/, '')}`);
    }
  }
  return { faults };
}

// All threads must load the same file: locks of LevelDB do not exclude a second LevelDB in the same process.
const key = 'quadpod.leveldb';
const choice = (getEnvironmentData(key) as unknown as Choice | undefined) ?? choose();
setEnvironmentData(key, choice as never);

export const { ClassicLevel } = load(choice.folder);
export type ClassicLevel<K = string, V = string> = Package.ClassicLevel<K, V>;

/** True if our LevelDB is loaded. Because of its patch, deleted entries stay deleted, and checksums are verified. */
export const isOurLevel = choice.folder !== undefined;

/** Reasons why the LevelDB of this package is not used although the package has a build for this platform. */
export const levelFaults: readonly string[] = choice.faults;
