/** State that a transaction reads. */
import type { KeyRange, ResourceRecord } from '../keys/records.js';

/** State before the transaction, including batches that are still being written. */
export interface TransactionBase {
  readonly isTransaction: boolean;
  record(iri: string): ResourceRecord | undefined;
  /** Returns the GSPO keys of an RDF resource's graph. */
  graph(record: ResourceRecord): Promise<readonly string[]>;
  /** Yields the keys of a graph with subjects that begin with a string, in blocks. */
  graphBlocks(record: ResourceRecord, beginning: string): AsyncIterable<readonly string[]>;
  /** Returns for each GSPO key true if the graph contains the key. */
  hasKeys(record: ResourceRecord, keys: readonly string[]): Promise<readonly boolean[]>;
  entry(key: string): string | undefined;
  derived<T extends object>(key: string, parse: (value: string) => T): T | undefined;
  /** Returns the members of a container in no particular order. */
  members(container: string): Promise<ResourceRecord[]>;
  entriesIn(range: KeyRange): Promise<Map<string, string>>;
  /** Deleted subtrees that are being removed. */
  readonly removedSubtrees: readonly string[];
  /** Containers whose resources a transaction in preparation changes (`TransactOptions.ahead`). */
  readonly reserved: ReadonlySet<string>;
  /** Waits until no graph or subtree of that name is being written, removed or prepared. @throws LwsError `too-busy` after half a minute */
  untilFree(name: string): Promise<void>;
  readonly bytes: number;
}
