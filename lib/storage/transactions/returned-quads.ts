/** Removes deleted quads that LevelDB returned (decision 168), and counts them for the metrics. */
import type { ReturnedKeys } from '../graphs/graph-digests.js';
import { stagedKey } from '../graphs/staged-keys.js';
import type { Transaction } from './transaction.js';

export class ReturnedQuads {
  /** Number since the start. */
  count = 0;
  private readonly removing = new Set<string>();

  constructor(
    private readonly transact: (work: (tx: Transaction) => void) => Promise<void>,
    private readonly onTrouble: (message: string, error: unknown) => void,
  ) {}

  /** Removes keys that no record counts, in the background, unless a transaction writes the graph first. */
  remove({ iri, revision, keys }: ReturnedKeys): void {
    if (this.removing.has(iri)) return;
    this.removing.add(iri);
    this.count += keys.length;
    this.onTrouble(`LevelDB returned ${keys.length} deleted triples of ${iri}. The server removes them.`, undefined);
    this.transact((tx) => {
      const now = tx.record(iri);
      const isSame = now ? now.revision === revision : tx.entry(stagedKey(iri)) === undefined;
      if (isSame) tx.removeReturned(iri, keys);
    })
      .catch((error: unknown) => this.onTrouble(`Returned triples of ${iri} could not be removed.`, error))
      .finally(() => this.removing.delete(iri));
  }
}
