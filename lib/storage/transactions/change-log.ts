/**
 * The log of changes: the events of the last day in commit order, for clients that were not connected. An entry is written in the batch
 * of the changes that it tells of. Positions grow with every event, also over restarts and back-ups, since they follow the clock; all servers
 * of a storage give an event the same position. It must not know who may read it.
 */

import { setImmediate as breathe } from 'node:timers/promises';
import { LwsError } from '../../errors.js';
import { metaKey, recordKey } from '../keys/records.js';
import { type BatchWriter, entryBlocks, type Level } from '../level/durable-level.js';
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
} from '../log/change-entry.js';
import type { Transaction } from './transaction.js';

const keptMs = 24 * 3600_000;
/** Characters that all kept entries may have together. */
const keptLength = 64 << 20;
/** Outdated entries are removed each time that so many milliseconds have passed or so many characters were written. */
const [sweepMs, sweepLength] = [10 * 60_000, 4 << 20];
const eventsOfEntry = 500;
/** How much the clocks of servers may differ; with a larger difference a client may miss an event. */
const clocksDifferMs = 60_000;

/** The beginning of a batch's name that shows that a server with a change log wrote the batch. */
export const loggedBatch = 'log ';

/** A position that is less than that of every event at or after a time (milliseconds since the epoch). */
export const positionBefore = (ms: number): number => Math.max(0, ms * positionsPerMs - 1);

const newestOf = async (level: Level): Promise<readonly [key: string, value: string] | undefined> =>
  (await level.iterator({ ...allChanges(), reverse: true, limit: 1 }).all())[0];

export interface ChangeLogOptions {
  /** Other servers write the storage as well. */
  readonly hasOthers?: boolean;
  readonly clock?: () => number;
  readonly onTrouble?: (message: string, error: unknown) => void;
}

export class ChangeLog {
  /** The last position that was given out. */
  private last: number;
  /** The position of the last event that is on the disk. */
  committed: number;
  /** The last position of the newest entry, and how many characters all entries so far have had. */
  previous: number;
  written = 0;
  private swept = { at: 0, written: 0 };
  private sweeping: Promise<void> | undefined;
  /** Entries up to this key are removed: LevelDB would scan over their tombstones. */
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

  /** Continues the log of an earlier process. @param storage the storage's IRI; one without a root resource has had no events */
  static async open(level: Level, storage: string, options: ChangeLogOptions): Promise<ChangeLog> {
    const newest = await newestOf(level);
    const end = newest ? positionOfKey(newest[0]) : 0;
    const isNew = (await level.get(recordKey(storage))) === undefined;
    // An earlier version of the server, without a log, may have written since: then the log has a gap.
    const isWhole = newest && (await level.get(metaKey('batch')))?.startsWith(loggedBatch) !== false;
    const now = (options.clock ?? Date.now)() * positionsPerMs;
    const begins = isNew || isWhole ? end : Math.max(end + 1, now);
    const log = new ChangeLog(level, storage, { ...options, begins });
    if (newest) log.written = writtenBefore(newest[1]) + newest[1].length;
    return log;
  }

  /** Gives the events of a transaction their positions, or notes those that another server gave them. */
  number(tx: Transaction): void {
    const count = tx.changes.length + tx.announcements.length;
    if (count === 0) return;
    tx.position ||= Math.max(this.last, this.clock() * positionsPerMs - 1) + count;
    this.last = Math.max(this.last, tx.position);
  }

  /** Puts entries with the events of transactions into the batch of these. */
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

  /** Notes that a transaction is on the disk. */
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

  /** Reads the state of the log from the disk, after a batch that may or may not have been stored. */
  async recover(): Promise<void> {
    const newest = await newestOf(this.level);
    this.committed = Math.max(this.committed, newest ? positionOfKey(newest[0]) : 0);
    this.last = Math.max(this.last, this.committed);
    this.previous = this.committed;
  }

  /**
   * A position between the events staged so far and all later ones. It follows the clock, so that it does not show a client when the last
   * event was; with several servers, it lies a minute back, or at the last event when that is later.
   */
  mark(): number {
    const now = this.clock() - (this.options.hasOthers ? clocksDifferMs : 0);
    this.last = Math.max(this.last, now * positionsPerMs);
    return this.last;
  }

  /**
   * The first block of events after a position; empty: nothing has happened since.
   * @throws LwsError `gone` unless all events after the position are there
   */
  async next(position: number): Promise<readonly LoggedEvent[]> {
    if (position > Math.max(this.last, this.clock() * positionsPerMs)) throw this.gone('lies ahead of it');
    const { committed } = this;
    const after = changeKey(position + 1);
    const range = { ...allChanges(), gte: after > this.from ? after : this.from };
    // Only one block: a slow client must not keep a snapshot of the storage open.
    for await (const entries of entryBlocks(this.level, range)) return this.eventsOf(entries, position);
    // No entry, although events after the position were committed: they were lost when the storage was restored.
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

  /** Removes entries that are too old or exceed `keptLength`; never the newest one. */
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
      // While LevelDB is opened again, the recovery reports it.
      if (level.status === 'open')
        this.options.onTrouble?.('The log of changes could not be shortened; that is tried again.', error);
    }
  }

  async close(): Promise<void> {
    await this.sweeping;
  }
}
