/**
 * The rows of the journal that a copy has and that may not be on the disk: each leaves its number, so that one which a power cut takes out
 * of their middle is missed.
 */
import { type BatchWriter, type Level, syncLevel, writeBatch } from '../engine/durable-level.js';
import { lastEnd, noteOpened } from '../engine/last-end.js';
import { metaKey, rangeOf } from '../state/records.js';
import { type JournalPlace, readPlace, writePlace } from './place.js';

/** After so many rows they are synced. */
const rowsAtATime = 1000;
const rowKey = (seq: number): string => `${metaKey('row')}\u0000${String(seq).padStart(16, '0')}`;
const allRows = rangeOf(`${metaKey('row')}\u0000`);

/** Whether a copy has every row up to its position: a machine that ended while it was open may have lost any. */
export async function isWhole(level: Level): Promise<boolean> {
  if ((await lastEnd(level)) === 'cut') return false;
  const rows = (await level.keys(allRows).all()).map((key) => Number(key.slice(rowKey(0).length - 16)));
  const { seq } = readPlace(await level.get(metaKey('position')));
  // Copies of earlier versions say nothing of their rows.
  return rows.length === 0 || (rows.at(-1) === seq && rows.length === seq - rows[0]! + 1);
}

/** Everything that a copy has is on the disk when this returns, and a cut from here on is noticed. */
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

  /** Puts into the batch of a row where it stands; all rows before it are written. */
  fill(batch: BatchWriter, place: JournalPlace): void {
    batch.put(metaKey('position'), writePlace(place));
    batch.put(rowKey(place.seq), '1');
    // The last one that is on the disk stays, so that the one after it is missed as well.
    for (; this.first < this.synced; this.first++) batch.del(rowKey(this.first));
    if (place.seq - this.synced > rowsAtATime) this.syncing ??= this.sync(place.seq - 1);
  }

  private async sync(seq: number): Promise<void> {
    try {
      await syncLevel(this.level);
      this.synced = seq;
      this.syncing = undefined;
    } catch (error) {
      // A second attempt would not tell of what the first one lost: from here on every row stays to be missed.
      this.onTrouble('The disk did not take a part of the copy.', error);
    }
  }
}
