/**
 * Removes the rest of deleted subtrees: graphs, links, blobs and index entries of their resources, in slices between which
 * other transactions run. The transaction that deletes a subtree only moves its records (`Transaction.deleteLater`), so that a
 * recursive DELETE is atomic and others hardly wait. No resource is created in the subtree before all is removed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { actorOfMark, hiddenRange, isSubtree, stagedKey } from '../graphs/staged-keys.js';
import { subtree } from '../keys/iri-ranges.js';
import { partsOfEntry, type ResourceRecord, readRecord, removedKey } from '../keys/records.js';
import { entryBlocks, givenValue, keyBlocks, type Level } from '../level/durable-level.js';
import type { Prepare, TransactOptions } from './commit-queue.js';
import type { Transaction } from './transaction.js';
import type { TransactionBase } from './transaction-base.js';

/** Maximum resources and quads of a slice. */
const [resourcesAtATime, quadsAtATime] = [250, 2_000];

const pauseMs = 1_000;

/** Stages the removal of all data of a deleted resource, except its record. */
export type RestRemoval = (tx: Transaction, record: ResourceRecord) => Promise<void>;

interface RemovedSubtreesOptions {
  readonly level: Level;
  readonly transact: (work: (tx: Transaction) => Promise<void> | void, options: TransactOptions<void>) => Promise<void>;
  /** Reads small graphs in advance, so that transactions do not wait for the disk. */
  readonly readAhead: (records: readonly ResourceRecord[]) => Prepare<void>;
  /** Called for the first failure of a removal. */
  readonly onTrouble: (message: string, error: unknown) => void;
}

export class RemovedSubtrees {
  private readonly running = new Map<string, Promise<void>>();
  private readonly end = new AbortController();
  private removeRest: RestRemoval | undefined;

  constructor(private readonly options: RemovedSubtreesOptions) {}

  /**
   * Continues the removals that an earlier process has not completed. From then on, `committed` begins new removals.
   * @returns the subtrees
   */
  async open(removeRest: RestRemoval): Promise<readonly string[]> {
    this.removeRest = removeRest;
    const found: string[] = [];
    for await (const keys of keyBlocks(this.options.level, hiddenRange))
      for (const key of keys) found.push(partsOfEntry(key)[1]!);
    for (const name of found) this.begin(name);
    return found.filter(isSubtree);
  }

  /** Begins the removal of subtrees that a committed transaction deleted. */
  committed({ entries, isForeign }: Transaction): void {
    for (const [key, value] of entries)
      if (value !== null && !isForeign && isSubtree(key) && key.startsWith(hiddenRange.gte))
        this.begin(partsOfEntry(key)[1]!);
  }

  private begin(container: string): void {
    if (!isSubtree(container) || !this.removeRest || this.running.has(container)) return;
    const run = this.removed(container, this.removeRest).finally(() => this.running.delete(container));
    this.running.set(container, run);
  }

  /** Removes a subtree. Retries if the disk is full or LevelDB is being reopened. After a shutdown, the next start resumes. */
  private async removed(container: string, removeRest: RestRemoval): Promise<void> {
    const { signal } = this.end;
    for (let failures = 0; !signal.aborted; failures++)
      try {
        await this.remove(container, removeRest);
        return;
      } catch (error) {
        if (failures === 0 && !signal.aborted)
          this.options.onTrouble(
            `The content of the deleted ${container} was not removed. The server tries again.`,
            error,
          );
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      }
  }

  private async remove(container: string, removeRest: RestRemoval): Promise<void> {
    const { from, to } = subtree(container);
    const range = { gte: removedKey(from), lt: removedKey(to) };
    const { level, transact, readAhead } = this.options;
    const mark = givenValue(level.getSync(stagedKey(container)));
    const stage = async (tx: Transaction, records: readonly ResourceRecord[]): Promise<void> => {
      tx.actor = mark === undefined ? undefined : actorOfMark(mark);
      for (const record of records) {
        if (tx.entry(removedKey(record.iri)) === undefined) continue;
        // LevelDB can return a deleted entry (decision 168), and the resource may exist again.
        if (tx.record(record.iri)!.revision !== record.revision) {
          tx.deleteEntry(removedKey(record.iri));
          continue;
        }
        await removeRest(tx, record);
        tx.deleteRest(record);
      }
    };
    // Remove members before their containers, because the ACLs of containers determine who receives the events.
    for await (const entries of entryBlocks(level, range, { reverse: true }))
      for (const records of slices(entries)) {
        if (this.end.signal.aborted) return;
        await transact((tx) => stage(tx, records), { frees: true, before: withRemoved, prepare: readAhead(records) });
      }
    await transact((tx) => tx.forgetSubtree(container), { frees: true });
  }

  /** Ends the removals. The next start continues them. */
  async close(): Promise<void> {
    this.end.abort();
    await Promise.all(this.running.values());
  }
}

/** Returns the state before a slice, with deleted records: authorizing the events needs the records of the containers. */
const withRemoved = (base: TransactionBase): TransactionBase =>
  Object.create(base, {
    record: {
      value: (iri: string) => {
        const record = base.record(iri);
        const value = record ? undefined : base.entry(removedKey(iri));
        return value === undefined ? record : readRecord(iri, value);
      },
    },
  });

function* slices(entries: readonly (readonly [key: string, value: string])[]): Generator<readonly ResourceRecord[]> {
  let [slice, quads]: [ResourceRecord[], number] = [[], 0];
  for (const [key, value] of entries) {
    const record = readRecord(partsOfEntry(key)[1]!, value);
    const { triples = 0 } = record;
    if (slice.length === resourcesAtATime || (slice.length > 0 && quads + triples > quadsAtATime)) {
      yield slice;
      [slice, quads] = [[], 0];
    }
    slice.push(record);
    quads += triples;
  }
  if (slice.length > 0) yield slice;
}
