/**
 * LevelDB of one of several servers, as a replica: it follows the journal that all servers of the storage share, and can be
 * rebuilt from a full state and the rows after it. Rows are written without sync. The sequence number of each row is stored
 * with it: if a power cut loses a row, the numbers have a gap.
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

/** Position in a journal: sequence number and id of a row. A database restored to an earlier state reuses sequence numbers. */
export interface JournalPlace {
  readonly seq: number;
  /** Id of the row; undefined if it is not known. */
  readonly id?: string | undefined;
}

const writePlace = ({ seq, id }: JournalPlace): string => (id === undefined ? String(seq) : `${seq} ${id}`);

function readPlace(value = '0'): JournalPlace {
  const [seq, id] = value.split(' ');
  return { seq: Number(seq), id };
}

/** Count of rows after which LevelDB is synced. */
const rowsAtATime = 1000;
const rowKey = (seq: number): string => `${metaKey('row')}\u0000${String(seq).padStart(16, '0')}`;
const allRows = rangeOf(`${metaKey('row')}\u0000`);
/** Prefix of the journal name in `M journal` while the replica is being built. */
const unfinished = 'unfinished ';

export class Replica {
  /** Sequence numbers of the first row whose number is stored, and of the last synced row. */
  private noted = 0;
  private synced = 0;
  private syncing: Promise<void> | undefined;

  constructor(
    private readonly level: Level,
    private readonly onTrouble?: (message: string, error: unknown) => void,
  ) {}

  /** Position of the last applied row. */
  get place(): JournalPlace {
    return readPlace(this.level.getSync(metaKey('position')));
  }

  /** Journal that the replica follows; undefined if the LevelDB is not a replica. */
  get journal(): { readonly name: string; readonly isFinished: boolean } | undefined {
    const value = this.level.getSync(metaKey('journal'));
    const isFinished = value?.startsWith(unfinished) === false;
    return value === undefined ? undefined : { name: isFinished ? value : value.slice(unfinished.length), isFinished };
  }

  /**
   * Returns the content of a LevelDB without a replica. `storage`: this storage in the current format. `other`: anything else.
   */
  holds(storage: string): 'nothing' | 'storage' | 'other' {
    const version = this.level.getSync(metaKey('version'));
    if (version === undefined) return 'nothing';
    return version === storeFormat && this.level.getSync(metaKey('storage')) === storage ? 'storage' : 'other';
  }

  /** True if the storage has terms of RDF 1.2, or had them earlier. */
  get hasNewTerms(): boolean {
    return readFeatures(this.level.getSync(featuresKey)).has(newTerms);
  }

  /** Returns true if no row is missing: the machine has not failed while the replica was open, and row numbers have no gap. */
  async isWhole(): Promise<boolean> {
    if ((await lastEnd(this.level)) === 'cut') return false;
    const rows = (await this.level.keys(allRows).all()).map((key) => Number(key.slice(rowKey(0).length - 16)));
    const { seq } = this.place;
    // Replicas of earlier versions have no row numbers.
    return rows.length === 0 || (rows.at(-1) === seq && rows.length === seq - rows[0]! + 1);
  }

  /** Converts a complete storage to a replica that has not applied any row of a journal. */
  follow(journal: string): Promise<void> {
    return writeEntries(this.level, [[metaKey('journal'), journal]], [metaKey('position'), '0']);
  }

  /** Deletes all entries and builds the replica from the lines of a full state (`read`). @param seq last row in this state */
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
    // Accept a state of an earlier format, which is migrated later, like a store.
    const isEmpty = (await level.get(metaKey('version'))) === undefined;
    const own = [[metaKey('storage'), storage] as const, [metaKey('position'), String(seq)] as const];
    await writeEntries(level, [...(isEmpty ? newFacts : [oneIndex]), ...own], [metaKey('journal'), journal]);
  }

  /** Reads a consistent full state. @param work called with the sequence number of the last row, and the lines in blocks */
  async read<T>(work: (seq: number, lines: AsyncIterable<readonly string[]>) => Promise<T>): Promise<T> {
    const snapshot = this.level.snapshot();
    try {
      const { seq } = readPlace(this.level.getSync(metaKey('position'), { snapshot }));
      return await work(seq, stateLines(this.level, snapshot, { hasQuads: true, hasLog: true }));
    } finally {
      await snapshot.close();
    }
  }

  /** Syncs LevelDB and starts to store row numbers, so that the next start detects lost rows. */
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

  /** Adds the position and the sequence number of a row to the batch of the row. All earlier rows must be written. */
  fill(batch: BatchWriter, place: JournalPlace): void {
    batch.put(metaKey('position'), writePlace(place));
    batch.put(rowKey(place.seq), '1');
    // Keep the sequence number of the last synced row, so that the loss of the next row shows as a gap.
    for (; this.noted < this.synced; this.noted++) batch.del(rowKey(this.noted));
    if (place.seq - this.synced <= rowsAtATime) return;
    const synced = place.seq - 1;
    // After a failed sync, do not retry: a later sync may succeed although data was lost. The remaining numbers show the loss.
    this.syncing ??= syncLevel(this.level).then(
      () => void Object.assign(this, { synced, syncing: undefined }),
      (error: unknown) => this.onTrouble?.('The disk did not store a part of the copy.', error),
    );
  }
}

/** Determines if a LevelDB is a replica. `whole`: one state of the storage without losses, possibly an old state. */
export async function copyIn(level: Level): Promise<'none' | 'whole' | 'unfinished'> {
  const replica = new Replica(level);
  if (!replica.journal) return 'none';
  return replica.journal.isFinished && (await replica.isWhole()) ? 'whole' : 'unfinished';
}
