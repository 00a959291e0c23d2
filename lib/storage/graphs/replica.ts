/**
 * LevelDB of one of several servers as a replica: it follows a journal shared by all servers of the storage, and can be rebuilt
 * from a full state and the rows after it. Rows are written without sync. Each leaves its number, so that a power cut that lost
 * one leaves a gap.
 */

import { featuresKey, newTerms, readFeatures } from '../keys/features.js';
import { metaKey, rangeOf } from '../keys/records.js';
import {
  type BatchWriter,
  type Level,
  putSynced,
  syncLevel,
  writeEntries,
  writeUnsynced,
} from '../level/durable-level.js';
import { lastEnd, noteOpened } from '../level/last-end.js';
import { newFacts, oneIndex, storeFormat } from './format.js';
import { entryOf, stateLines } from './state-blocks.js';

/** Position in a journal: the number of a row and its id, since a database that was set back assigns the same number to another row. */
export interface JournalPlace {
  readonly seq: number;
  /** Absent: unknown. */
  readonly id?: string | undefined;
}

const writePlace = ({ seq, id }: JournalPlace): string => (id === undefined ? String(seq) : `${seq} ${id}`);

function readPlace(value = '0'): JournalPlace {
  const [seq, id] = value.split(' ');
  return { seq: Number(seq), id };
}

/** Number of rows after which LevelDB is synced. */
const rowsAtATime = 1000;
const rowKey = (seq: number): string => `${metaKey('row')}\u0000${String(seq).padStart(16, '0')}`;
const allRows = rangeOf(`${metaKey('row')}\u0000`);
/** Prefix of the journal name in `M journal` while the replica is being built. */
const unfinished = 'unfinished ';

export class Replica {
  /** First row with a stored number, and last synced row. */
  private noted = 0;
  private synced = 0;
  private syncing: Promise<void> | undefined;

  constructor(
    private readonly level: Level,
    private readonly onTrouble?: (message: string, error: unknown) => void,
  ) {}

  /** Last applied row. */
  get place(): JournalPlace {
    return readPlace(this.level.getSync(metaKey('position')));
  }

  /** Journal of the replica. Undefined if the LevelDB is not a replica. */
  get journal(): { readonly name: string; readonly isFinished: boolean } | undefined {
    const value = this.level.getSync(metaKey('journal'));
    const isFinished = value?.startsWith(unfinished) === false;
    return value === undefined ? undefined : { name: isFinished ? value : value.slice(unfinished.length), isFinished };
  }

  /** Returns the content of a LevelDB without a replica: a storage of this format, one of an earlier format or another IRI, or nothing. */
  holds(storage: string): 'nothing' | 'storage' | 'other' {
    const version = this.level.getSync(metaKey('version'));
    if (version === undefined) return 'nothing';
    return version === storeFormat && this.level.getSync(metaKey('storage')) === storage ? 'storage' : 'other';
  }

  /** True if the state has, or had, terms of RDF 1.2. */
  get hasNewTerms(): boolean {
    return readFeatures(this.level.getSync(featuresKey)).has(newTerms);
  }

  /** Returns true if it certainly has every row up to its position: false if the machine ended while it was open, or a number is missing. */
  async isWhole(): Promise<boolean> {
    if ((await lastEnd(this.level)) === 'cut') return false;
    const rows = (await this.level.keys(allRows).all()).map((key) => Number(key.slice(rowKey(0).length - 16)));
    const { seq } = this.place;
    // Replicas of earlier versions have no row numbers.
    return rows.length === 0 || (rows.at(-1) === seq && rows.length === seq - rows[0]! + 1);
  }

  /** Makes a whole storage a replica without any row of a journal. */
  follow(journal: string): Promise<void> {
    return writeEntries(this.level, [[metaKey('journal'), journal]], [metaKey('position'), '0']);
  }

  /** Deletes everything and builds the replica from the lines of a full state (see `read`). @param seq last row in it */
  async rebuild(
    { journal, storage, seq }: { readonly journal: string; readonly storage: string; readonly seq: number },
    state: AsyncIterable<readonly string[]>,
  ): Promise<void> {
    const { level } = this;
    await putSynced(level, metaKey('journal'), unfinished + journal);
    await level.clear({ lt: metaKey('journal') });
    await level.clear({ gt: metaKey('journal') });
    for await (const lines of state) {
      const entries = lines.map(entryOf);
      const fill = (batch: BatchWriter): void => {
        for (const entry of entries) batch.put(...entry);
      };
      await writeUnsynced(level, fill, () => entries.at(-1)!);
    }
    // A synced batch covers earlier data in the same log only, and there may be several logs.
    await syncLevel(level);
    // A state of an earlier format is migrated like a store.
    const isEmpty = (await level.get(metaKey('version'))) === undefined;
    const own = [[metaKey('storage'), storage] as const, [metaKey('position'), String(seq)] as const];
    await writeEntries(level, [...(isEmpty ? newFacts : [oneIndex]), ...own], [metaKey('journal'), journal]);
  }

  /** Reads a consistent full state. @param work gets its last row and its lines in blocks */
  async read<T>(work: (seq: number, lines: AsyncIterable<readonly string[]>) => Promise<T>): Promise<T> {
    const snapshot = this.level.snapshot();
    try {
      const { seq } = readPlace(this.level.getSync(metaKey('position'), { snapshot }));
      return await work(seq, stateLines(this.level, snapshot, { hasQuads: true, hasLog: true }));
    } finally {
      await snapshot.close();
    }
  }

  /** Syncs LevelDB and starts to record rows: later losses of rows are noticed at the next start. */
  async begin(): Promise<void> {
    const { level } = this;
    await syncLevel(level);
    const { seq } = this.place;
    const rows = await level.keys(allRows).all();
    await writeEntries(
      level,
      rows.map((key) => [key, null]),
      [rowKey(seq), '1'],
    );
    [this.noted, this.synced] = [seq, seq];
    await noteOpened(level);
  }

  /** Adds the position of a row to its batch. All earlier rows are written already. */
  fill(batch: BatchWriter, place: JournalPlace): void {
    batch.put(metaKey('position'), writePlace(place));
    batch.put(rowKey(place.seq), '1');
    // The number of the last synced row is kept, so that a loss of the following row is noticed too.
    for (; this.noted < this.synced; this.noted++) batch.del(rowKey(this.noted));
    if (place.seq - this.synced <= rowsAtATime) return;
    const synced = place.seq - 1;
    // After a failure no other sync is tried: it may succeed although data was lost. The remaining numbers show the loss.
    this.syncing ??= syncLevel(this.level).then(
      () => void Object.assign(this, { synced, syncing: undefined }),
      (error: unknown) => this.onTrouble?.('The disk did not store a part of the copy.', error),
    );
  }
}

/** Returns the condition of a replica. A `whole` one is one state of the storage, possibly an early one, without losses. */
export async function copyIn(level: Level): Promise<'none' | 'whole' | 'unfinished'> {
  const replica = new Replica(level);
  if (!replica.journal) return 'none';
  return replica.journal.isFinished && (await replica.isWhole()) ? 'whole' : 'unfinished';
}
