/**
 * Notes which rows of the journal a copy has. They are written without a sync; each leaves its number, so that a gap shows when a power cut
 * has taken one of them.
 */

import { metaKey, rangeOf } from '../keys/records.js';
import { type BatchWriter, type Level, syncLevel, writeBatch } from '../level/durable-level.js';
import { lastEnd, noteOpened } from '../level/last-end.js';
import { type JournalPlace, readPlace, writePlace } from './journal.js';

/** LevelDB is synced after so many rows. */
const rowsAtATime = 1000;
const rowKey = (seq: number): string => `${metaKey('row')}\u0000${String(seq).padStart(16, '0')}`;
const allRows = rangeOf(`${metaKey('row')}\u0000`);

/** Whether a copy certainly has every row up to its position: false when the machine ended while it was open, or a number is missing. */
export async function isWhole(level: Level): Promise<boolean> {
  if ((await lastEnd(level)) === 'cut') return false;
  const rows = (await level.keys(allRows).all()).map((key) => Number(key.slice(rowKey(0).length - 16)));
  const { seq } = readPlace(await level.get(metaKey('position')));
  // Copies of earlier versions have no numbers of rows.
  return rows.length === 0 || (rows.at(-1) === seq && rows.length === seq - rows[0]! + 1);
}

/** Syncs a copy and begins to note rows: a loss of rows from here on is noticed at the next start. */
export async function beginCopy(level: Level): Promise<void> {
  await syncLevel(level);
  const { seq } = readPlace(await level.get(metaKey('position')));
  const rows = await level.keys(allRows).all();
  await writeBatch(
    level,
    (batch) => {
      for (const key of rows) batch.del(key);
    },
    () => [rowKey(seq), '1'],
  );
  await noteOpened(level);
}

export class CopiedRows {
  private first: number;
  private syncing: Promise<void> | undefined;

  /** @param synced the last row that is on the disk */
  constructor(
    private readonly level: Level,
    private synced: number,
    private readonly onTrouble: (message: string, error: unknown) => void,
  ) {
    this.first = synced;
  }

  /** Puts the place of a row into its batch. All rows before it are written already. */
  fill(batch: BatchWriter, place: JournalPlace): void {
    batch.put(metaKey('position'), writePlace(place));
    batch.put(rowKey(place.seq), '1');
    // The number of the last synced row stays, so that a loss of the row after it shows as well.
    for (; this.first < this.synced; this.first++) batch.del(rowKey(this.first));
    if (place.seq - this.synced > rowsAtATime) this.syncing ??= this.sync(place.seq - 1);
  }

  private async sync(seq: number): Promise<void> {
    try {
      await syncLevel(this.level);
      this.synced = seq;
      this.syncing = undefined;
    } catch (error) {
      // A second sync may succeed although the first one lost data: from here on no number is removed, so that a loss shows.
      this.onTrouble('The disk did not take a part of the copy.', error);
    }
  }
}
