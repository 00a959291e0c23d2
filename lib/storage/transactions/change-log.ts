/**
 * Change log: the events of the last day in commit order, for clients that reconnect. Entries are written in the batch of their
 * changes. Positions follow the clock, so that they also increase after restarts and restores. An event has the same position
 * on all servers of a storage.
 */

import { LwsError } from '../../tools/errors.js';
import { yieldToEventLoop } from '../../tools/event-loop.js';
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
/** Maximum total length of retained entries, in characters. */
const keptLength = 64 << 20;
/** Outdated entries are removed when this time in milliseconds has passed, or this many characters were written. */
const [sweepMs, sweepLength] = [10 * 60_000, 4 << 20];
const eventsOfEntry = 500;
/** Allowed difference of server clocks, in milliseconds. If they differ more, a client may miss an event. */
const clocksDifferMs = 60_000;

/** Prefix of a batch name that marks a server version with a change log. */
export const loggedBatch = 'log ';

/** Returns a position before every event at or after a time (milliseconds since the epoch). */
export const positionBefore = (ms: number): number => Math.max(0, ms * positionsPerMs - 1);

const newestOf = async (level: Level): Promise<readonly [key: string, value: string] | undefined> =>
  (await level.iterator({ ...allChanges(), reverse: true, limit: 1 }).all())[0];

export interface ChangeLogOptions {
  /** True if other servers write the storage too. */
  readonly hasOthers?: boolean;
  readonly clock?: () => number;
  readonly onTrouble?: (message: string, error: unknown) => void;
}

export class ChangeLog {
  /** Last assigned position. */
  private last: number;
  /** Position of the last event on disk. */
  committed: number;
  /** `previous`: last position of the newest entry. `written`: total length of all entries so far. */
  previous: number;
  written = 0;
  private swept = { at: 0, written: 0 };
  private sweeping: Promise<void> | undefined;
  /** Entries before this key were removed. Scans start here, to avoid their tombstones. */
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

  /** Opens the log of a storage. @param storage IRI of the storage; if it has no root resource, there were no events */
  static async open(level: Level, storage: string, options: ChangeLogOptions): Promise<ChangeLog> {
    const newest = await newestOf(level);
    const end = newest ? positionOfKey(newest[0]) : 0;
    const isNew = (await level.get(recordKey(storage))) === undefined;
    // A server version without a log may have written since, so that events are missing from the log.
    const isWhole = newest && (await level.get(metaKey('batch')))?.startsWith(loggedBatch) !== false;
    const now = (options.clock ?? Date.now)() * positionsPerMs;
    const begins = isNew || isWhole ? end : Math.max(end + 1, now);
    const log = new ChangeLog(level, storage, { ...options, begins });
    if (newest) log.written = writtenBefore(newest[1]) + newest[1].length;
    return log;
  }

  /** Assigns positions to the events of a transaction. Keeps positions that another server has assigned. */
  number(tx: Transaction): void {
    const count = tx.changes.length + tx.announcements.length;
    if (count === 0) return;
    tx.position ||= Math.max(this.last, this.clock() * positionsPerMs - 1) + count;
    this.last = Math.max(this.last, tx.position);
  }

  /** Adds entries for the events of transactions to their batch. */
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
          await yieldToEventLoop();
        }
    }
    flush();
  }

  /** Records that a transaction is on disk. */
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

  /** Reads the log state from disk after a batch in doubt. */
  async recover(): Promise<void> {
    const newest = await newestOf(this.level);
    this.committed = Math.max(this.committed, newest ? positionOfKey(newest[0]) : 0);
    this.last = Math.max(this.last, this.committed);
    this.previous = this.committed;
  }

  /**
   * Returns a position after the events staged so far and before all later ones. The position follows the clock, so that it
   * does not reveal the time of the last event. With several servers it is a minute in the past, but not before the last event.
   */
  mark(): number {
    const now = this.clock() - (this.options.hasOthers ? clocksDifferMs : 0);
    this.last = Math.max(this.last, now * positionsPerMs);
    return this.last;
  }

  /**
   * Returns the first block of events after a position, empty if there are none.
   * @throws LwsError `gone` unless all events after the position are available
   */
  async next(position: number): Promise<readonly LoggedEvent[]> {
    if (position > Math.max(this.last, this.clock() * positionsPerMs)) throw this.gone('is in the future');
    const { committed } = this;
    const after = changeKey(position + 1);
    const range = { ...allChanges(), gte: after > this.from ? after : this.from };
    // Read one block only, because a slow client must not keep a snapshot open.
    for await (const entries of entryBlocks(this.level, range)) return this.eventsOf(entries, position);
    // There is no entry although events after the position were committed: a restore has lost them.
    if (position < committed) throw this.gone('is older than the log');
    return [];
  }

  /** Returns a position before the newest `count` events; 0 if the log has fewer. */
  async positionBeforeNewest(count: number): Promise<number> {
    let left = count;
    for await (const entry of this.level.iterator({ ...allChanges(), reverse: true })) {
      const { events } = readEntry(entry, this.storage);
      if (events.length >= left) return events.at(-left)!.position - 1;
      left -= events.length;
    }
    return 0;
  }

  private eventsOf(entries: readonly (readonly [key: string, value: string])[], after: number): LoggedEvent[] {
    let at = after;
    const events: LoggedEvent[] = [];
    for (const [key, value] of entries) {
      const entry = readEntry([key, value], this.storage);
      if (entry.previous > at) throw this.gone('is older than the log');
      at = positionOfKey(key);
      events.push(...entry.events);
    }
    return events[0]!.position > after ? events : events.filter(({ position }) => position > after);
  }

  private gone(how: string): LwsError {
    return new LwsError(
      'gone',
      `The log of changes does not have the events after this position, which ${how}. Read the storage again, and continue ` +
        `after ${this.committed}.`,
    );
  }

  /** Removes entries that are too old or exceed `keptLength`, but never the newest entry. */
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
      // While LevelDB is being reopened, `Recovery` reports the failure.
      if (level.status === 'open')
        this.options.onTrouble?.('The log of changes could not be shortened. A later attempt follows.', error);
    }
  }

  async close(): Promise<void> {
    await this.sweeping;
  }
}
