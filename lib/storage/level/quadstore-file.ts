/**
 * File beside the database with the indexes for quadstore, for other programs: the package must be told, and finds no quads in an
 * index that is not maintained. Nothing here reads it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type IndexSet, quadstoreIndexes } from '../keys/index-set.js';
import { writeWhole } from './synced-files.js';

/** Writes the file if its content differs. */
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
    onTrouble('quadstore.json, which lists the indexes for other programs, could not be written.', error);
  }
}
