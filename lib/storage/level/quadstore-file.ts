/**
 * Writes a file next to the database with the indexes for quadstore, for other programs: the package finds no quads in an index
 * that is not maintained. Quadpod does not read the file.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from './synced-files.js';

/** The only index of quads on disk, in the form of quadstore's option `indexes`. */
export const quadstoreIndex = ['graph', 'subject', 'predicate', 'object'] as const;

/** Description of the keys that the package cannot decode. */
const unreadable =
  'Keys with the type letters 8 (triple term) and 9 (base direction), listed as rdf-1.2 in M\\0features.';

/** Writes the file if its content differs. */
export function noteIndexes(folder: string, onTrouble: (message: string, error: unknown) => void = () => {}): void {
  const file = join(folder, 'quadstore.json');
  const text = `${JSON.stringify({ indexes: [quadstoreIndex], unreadable })}\n`;
  try {
    if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeWhole(file, text);
  } catch (error) {
    onTrouble('quadstore.json, which lists the indexes for other programs, could not be written.', error);
  }
}
