/** The folder of a LevelDB while that is made, which a power cut may leave half made: nothing in it was acknowledged. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from './synced-files.js';

/** There from before LevelDB's first file until all of them are on the disk. */
const mark = 'NEW';

/**
 * Marks a folder that has nothing.
 * @returns `new` also where an earlier process has begun; `maimed` where LevelDB would make a new database, and remove the tables of the
 *   old one
 * @throws the file system's error
 */
export async function beginNew(folder: string): Promise<'new' | 'there' | 'maimed'> {
  await mkdir(folder, { recursive: true });
  const files = await readdir(folder);
  if (files.includes(mark)) return 'new';
  if (!files.includes('CURRENT') && files.some((file) => /\.(?:ldb|sst|log)$/.test(file))) return 'maimed';
  if (files.length > 0) return 'there';
  await writeFile(join(folder, mark), '');
  await syncPath(folder);
  return 'new';
}

/** Whether it is another process that keeps LevelDB from being opened. */
export const isLocked = (error: unknown): boolean =>
  (error as { cause?: { code?: string } } | undefined)?.cause?.code === 'LEVEL_LOCKED';

/** Opens LevelDB where it is being made, and makes it anew from what is half made. @throws the error of LevelDB */
export async function openNew(level: { open(): Promise<void> }, folder: string): Promise<void> {
  try {
    await level.open();
  } catch (error) {
    if (isLocked(error)) throw error;
    for (const name of await readdir(folder)) if (name !== mark && name !== 'LOCK') await rm(join(folder, name));
    await level.open();
  }
}

/** All files are on the disk, and what comes may be acknowledged. */
export async function endNew(folder: string): Promise<void> {
  await syncPath(dirname(folder));
  await rm(join(folder, mark), { force: true });
  await syncPath(folder);
}
