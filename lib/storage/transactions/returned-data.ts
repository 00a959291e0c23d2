/** Removes deleted data that LevelDB returned (decision 168), and counts it for the metrics. */
import { DamagedGraphError, keysTooMany, type ReturnedKeys } from '../graphs/graph-digests.js';
import { graphRange } from '../keys/quad-keys.js';
import { readRecord, recordKey } from '../keys/records.js';
import { keyBlocks, type Level } from '../level/durable-level.js';
import type { Transaction } from './transaction.js';

export class ReturnedData {
  /** Counts of returned quads and entries since the start. */
  readonly counts = { quads: 0, entries: 0 };
  private readonly known = new Set<string>();

  constructor(
    private readonly level: Level,
    private readonly transact: (work: (tx: Transaction) => void) => Promise<void>,
    private readonly onTrouble: (message: string, error: unknown) => void,
  ) {}

  /** Removes returned keys in the background, unless a transaction writes the graph first. No record counts these keys. */
  remove({ iri, revision, keys }: ReturnedKeys): void {
    if (this.known.has(iri)) return;
    this.known.add(iri);
    this.counts.quads += keys.length;
    this.onTrouble(`LevelDB returned ${keys.length} deleted triples of ${iri}. The server removes them.`, undefined);
    this.write(iri, (tx) => {
      const now = tx.record(iri);
      const isSame = now ? now.revision === revision : !tx.isStaged(iri);
      if (isSame) tx.removeReturned(iri, keys);
    });
  }

  /** Removes returned keys from graphs before the promise resolves. @throws DamagedGraphError for another difference */
  async removeFrom(graphs: readonly string[]): Promise<void> {
    for (const iri of graphs) {
      const snapshot = this.level.snapshot();
      const read = () => keyBlocks(this.level, graphRange(iri), { snapshot });
      try {
        const value = this.level.getSync(recordKey(iri), { snapshot });
        const keys: string[] = [];
        if (value === undefined) for await (const block of read()) keys.push(...block);
        const found = value === undefined ? keys : await keysTooMany(readRecord(iri, value), read);
        if (!found) throw new DamagedGraphError(iri);
        if (found.length > 0) this.remove({ iri, revision: value && readRecord(iri, value).revision, keys: found });
      } finally {
        await snapshot.close();
      }
    }
    await this.transact(() => {});
  }

  /** Removes entries in the background, unless a transaction writes them first. Readers must not use them meanwhile. */
  removeEntries(found: ReadonlyMap<string, string>): void {
    for (const [key, value] of found) {
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.counts.entries++;
      this.onTrouble(`LevelDB returned the deleted entry ${printed(key)}. The server removes it.`, undefined);
      this.write(key, (tx) => {
        // Delete the entry as a posting, because the digest of the entries does not include it.
        if (tx.entry(key) === value) tx.postings.set(key, null);
      });
    }
  }

  /** Reports entries that cannot be trusted, once. */
  damaged(what: string): void {
    if (this.known.has(what)) return;
    this.known.add(what);
    this.counts.entries++;
    this.onTrouble(`${what} Stop the server and run "quadpod check --repair".`, undefined);
  }

  private write(name: string, work: (tx: Transaction) => void): void {
    this.transact(work)
      .catch((error: unknown) => this.onTrouble(`Returned data of ${printed(name)} was not removed.`, error))
      .finally(() => this.known.delete(name));
  }
}

/** Returns a key with spaces between its parts. */
export const printed = (key: string): string => key.replaceAll('\u0000', ' ').trim();
