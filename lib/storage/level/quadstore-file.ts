/**
 * A file beside the database that says with which indexes quadstore opens it, for other programs: the package asks for them, and does not
 * find quads in one that is not kept. Nothing here reads it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IndexSet, quadstoreIndexes } from '../keys/index-set.js';
import { writeWhole } from './synced-files.js';

/** Writes the file where it says something else. */
export function noteIndexes(
  folder: string,
  orders: IndexSet,
  onTrouble: (message: string, error: unknown) => void = () => {},
): void {
  const file = join(folder, 'quadstore.json');
  const text = `${JSON.stringify({ indexes: quadstoreIndexes(orders) })}\n`;
  try {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeWhole(file, text);
  } catch (error) {
    onTrouble('quadstore.json, which tells other programs of the indexes, could not be written.', error);
  }
}
