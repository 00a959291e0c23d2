/** Removes deleted data that LevelDB returned (decision 168), and counts it for the metrics. */
import type { ReturnedKeys } from '../graphs/graph-digests.js';
import { stagedKey } from '../graphs/staged-keys.js';
import type { Transaction } from './transaction.js';

export class ReturnedData {
  /** Numbers since the start. */
  readonly counts = { quads: 0, entries: 0 };
  private readonly known = new Set<string>();

  constructor(
    private readonly transact: (work: (tx: Transaction) => void) => Promise<void>,
    private readonly onTrouble: (message: string, error: unknown) => void,
  ) {}

  /** Removes keys that no record counts, in the background, unless a transaction writes the graph first. */
  remove({ iri, revision, keys }: ReturnedKeys): void {
    if (this.known.has(iri)) return;
    this.known.add(iri);
    this.counts.quads += keys.length;
    this.onTrouble(`LevelDB returned ${keys.length} deleted triples of ${iri}. The server removes them.`, undefined);
    this.write(iri, (tx) => {
      const now = tx.record(iri);
      const isSame = now ? now.revision === revision : tx.entry(stagedKey(iri)) === undefined;
      if (isSame) tx.removeReturned(iri, keys);
    });
  }

  /** Removes entries in the background, unless a transaction writes them first. Readers must not use them meanwhile. */
  removeEntries(found: ReadonlyMap<string, string>): void {
    for (const [key, value] of found) {
      if (this.known.has(key)) continue;
      this.known.add(key);
      this.counts.entries++;
      this.onTrouble(`LevelDB returned the deleted entry ${printed(key)}. The server removes it.`, undefined);
      this.write(key, (tx) => {
        // The digest of the entries does not contain it.
        if (tx.entry(key) === value) tx.postings.set(key, null);
      });
    }
  }

  /** Reports entries that cannot be trusted. */
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
