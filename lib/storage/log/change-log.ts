/**
 * The log of changes: what was committed in the last day, in its order, for those who were away. Entries lie in the batches of what they
 * tell of. Positions grow with every event, also over restarts and back-ups, since they follow the clock; servers of one storage have the
 * same ones. It must not know who may read it.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { LwsError } from '../../errors.js';
import { type BatchWriter, entryBlocks, type Level } from '../engine/durable-level.js';
import type { Transaction } from '../engine/transaction.js';
import { metaKey, recordKey } from '../state/records.js';
import {
  allChanges,
  changeKey,
  type LoggedEvent,
  type NewEvent,
  positionOfKey,
  positionsPerMs,
  readEntry,
  writeEntry,
  writtenBefore,
} from './change-entry.js';

const keptMs = 24 * 3600_000;
/** Characters of all entries. */
const keptLength = 64 << 20;
/** Entries that count no more go after so many milliseconds or characters. */
const [sweepMs, sweepLength] = [10 * 60_000, 4 << 20];
const eventsOfEntry = 500;
/** Clocks of servers that differ by more may cost a client an event. */
const clocksDifferMs = 60_000;

/** What the name of a batch begins with, of which the log knows. */
export const loggedBatch = 'log ';

/** The position of whatever happens from a time on, in milliseconds since the epoch, is greater. */
export const positionBefore = (ms: number): number => Math.max(0, ms * positionsPerMs - 1);

const newestOf = async (level: Level): Promise<readonly [key: string, value: string] | undefined> =>
  (await level.iterator({ ...allChanges(), reverse: true, limit: 1 }).all())[0];

export interface ChangeLogOptions {
  /** Other servers write the storage as well. */
  readonly cluster?: object | undefined;
  readonly clock?: () => number;
  readonly onTrouble?: (message: string, error: unknown) => void;
}

export class ChangeLog {
  /** The last position that was given out. */
  private last: number;
  /** The last of an event that everybody can read. */
  committed: number;
  /** Where the next entry goes on, and how many characters all before it had. */
  previous: number;
  written = 0;
  private swept = { at: 0, written: 0 };
  private sweeping: Promise<void> | undefined;
  /** Entries up to this key are gone: to look for them would take time. */
  private from = allChanges().gte;
  private readonly clock: () => number;

  private constructor(
    private readonly level: Level,
    readonly storage: string,
    private readonly options: ChangeLogOptions & { readonly begins: number },
  ) {
    const { begins } = options;
    this.clock = options.clock ?? Date.now;
    this.last = begins;
    this.committed = begins;
    this.previous = begins;
  }

  /** Goes on where an earlier process ended. @param storage its IRI; nothing has ever happened in one without a root */
  static async open(level: Level, storage: string, options: ChangeLogOptions): Promise<ChangeLog> {
    const newest = await newestOf(level);
    const end = newest ? positionOfKey(newest[0]) : 0;
    const isNew = (await level.get(recordKey(storage))) === undefined;
    // A version of the server that knew of no log may have written since.
    const isWhole = newest && (await level.get(metaKey('batch')))?.startsWith(loggedBatch) !== false;
    const now = (options.clock ?? Date.now)() * positionsPerMs;
    const begins = isNew || isWhole ? end : Math.max(end + 1, now);
    const log = new ChangeLog(level, storage, { ...options, begins });
    if (newest) log.written = writtenBefore(newest[1]) + newest[1].length;
    return log;
  }

  /** Gives a transaction its positions, or notes those that another server gave it. */
  number(tx: Transaction): void {
    const count = tx.changes.length + tx.announcements.length;
    if (count === 0) return;
    tx.position ||= Math.max(this.last, this.clock() * positionsPerMs - 1) + count;
    this.last = Math.max(this.last, tx.position);
  }

  /** Puts the events of transactions into their batch. */
  async write(batch: BatchWriter, group: Iterable<{ readonly transaction: Transaction }>): Promise<void> {
    let events: NewEvent[] = [];
    const flush = (): void => {
      if (events.length === 0) return;
      const value = writeEntry(events, this);
      this.previous = events.at(-1)!.position;
      this.written += value.length;
      batch.put(changeKey(this.previous), value);
      events = [];
    };
    for (const { transaction } of group) {
      const { changes, announcements, actor } = transaction;
      let position = transaction.position - changes.length - announcements.length;
      for (const list of [changes, announcements])
        for (const what of list) {
          events.push({ position: ++position, actor, what });
          if (events.length < eventsOfEntry) continue;
          flush();
          await breathe();
        }
    }
    flush();
  }

  /** A transaction is on the disk. */
  settled({ position }: Transaction): void {
    if (position === 0) return;
    this.committed = Math.max(this.committed, position);
    const { swept, written } = this;
    if (written - swept.written < sweepLength && this.clock() - swept.at < sweepMs) return;
    this.swept = { at: this.clock(), written };
    this.sweeping ??= this.sweep().finally(() => {
      this.sweeping = undefined;
    });
  }

  /** Goes on with what is on the disk, after a batch of which that was in doubt. */
  async recover(): Promise<void> {
    const newest = await newestOf(this.level);
    this.committed = Math.max(this.committed, newest ? positionOfKey(newest[0]) : 0);
    this.last = Math.max(this.last, this.committed);
    this.previous = this.committed;
  }

  /**
   * A position that everything has passed that was staged so far, and nothing has that comes after it. It tells nobody when something
   * happened last, on one server; of several, not by more than a minute.
   */
  mark(): number {
    const now = this.clock() - (this.options.cluster ? clocksDifferMs : 0);
    this.last = Math.max(this.last, now * positionsPerMs);
    return this.last;
  }

  /**
   * The next events after a position, a block of them; none: nothing has happened since.
   * @throws LwsError `gone` unless all events after the position are there
   */
  async next(position: number): Promise<readonly LoggedEvent[]> {
    if (position > Math.max(this.last, this.clock() * positionsPerMs)) throw this.gone('lies ahead of it');
    const { committed } = this;
    const after = changeKey(position + 1);
    const range = { ...allChanges(), gte: after > this.from ? after : this.from };
    // Who reads slowly keeps no snapshot of the storage.
    for await (const entries of entryBlocks(this.level, range)) return this.eventsOf(entries, position);
    // Nothing is there; but something may have been, before the storage was restored.
    if (position < committed) throw this.gone('lies before it');
    return [];
  }

  private eventsOf(entries: readonly (readonly [key: string, value: string])[], after: number): LoggedEvent[] {
    let at = after;
    const events: LoggedEvent[] = [];
    for (const [key, value] of entries) {
      const entry = readEntry([key, value], this.storage);
      if (entry.previous > at) throw this.gone('lies before it');
      at = positionOfKey(key);
      events.push(...entry.events);
    }
    return events[0]!.position > after ? events : events.filter(({ position }) => position > after);
  }

  private gone(how: string): LwsError {
    return new LwsError(
      'gone',
      `The log of changes does not have what came after this position, which ${how}. Read the storage anew, and go on ` +
        `after ${this.committed}.`,
    );
  }

  /** Removes what is too old, or too much; never the newest entry. */
  private async sweep(): Promise<void> {
    const { level } = this;
    const oldest = changeKey(positionBefore(this.clock() - keptMs));
    const newest = changeKey(this.committed);
    const range = { gte: this.from, lt: newest };
    let cut: string | undefined;
    try {
      search: for await (const entries of entryBlocks(level, range))
        for (const [key, value] of entries) {
          if (key >= oldest && this.written - writtenBefore(value) <= keptLength) break search;
          cut = key;
        }
      if (cut === undefined) return;
      await level.clear({ gte: this.from, lte: cut });
      this.from = cut;
    } catch (error) {
      // A store that is opened again meanwhile says so itself.
      if (level.status === 'open')
        this.options.onTrouble?.('The log of changes could not be shortened; that is tried again.', error);
    }
  }

  async close(): Promise<void> {
    await this.sweeping;
  }
}
