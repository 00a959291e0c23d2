/** Serializes the changes of transactions for the other servers of a storage. */
import type { GraphChange, KeyDifference } from '../keys/graph-changes.js';
import type { ResourceRecord } from '../keys/records.js';
import { Transaction } from './transaction.js';
import type { TransactionBase } from './transaction-base.js';

/** Members of a transaction that other servers need. */
interface SharedChange extends Pick<Transaction, 'changes' | 'announcements' | 'actor' | 'trace' | 'position'> {
  readonly records: readonly (readonly [iri: string, record: ResourceRecord | null])[];
  readonly entries: readonly (readonly [key: string, value: string | null])[];
  readonly postings?: SharedChange['entries'];
  /** Changes of graphs. A change without a count of triples concerns a staged graph. */
  readonly graphs: readonly (KeyDifference &
    Partial<Pick<GraphChange, 'triples' | 'isPart'>> & { readonly iri: string })[];
}

/** Serializes transactions. @throws Error for a transaction with a bulk writer, because another thread has its graphs */
export function writeChanges(transactions: readonly Transaction[]): Buffer {
  return Buffer.from(JSON.stringify(transactions.map(changeOf)));
}

function changeOf(transaction: Transaction): SharedChange {
  if (transaction.batchWriter) throw new Error('Writes of another thread cannot be shared with other servers.');
  const { records, entries, postings, graphs, hidden, changes, announcements, actor, trace, position } = transaction;
  const shared = [...graphs].map(([iri, { added, removed, triples, isPart }]) => ({
    iri,
    added,
    removed,
    triples,
    isPart,
  }));
  return {
    ...{ records: [...records], entries: [...entries], changes, announcements, actor, trace, position },
    ...(postings.size > 0 && { postings: [...postings] }),
    graphs: [...shared, ...[...hidden].map(([iri, { added, removed }]) => ({ iri, added, removed }))],
  };
}

/**
 * Yields the transactions of another server in order. The caller adds each to the overlay before it continues.
 * @param base state with the earlier transactions
 */
export function* readChanges(body: Buffer, base: TransactionBase): Generator<Transaction> {
  for (const change of JSON.parse(body.toString()) as SharedChange[]) yield transactionOf(change, base);
}

function transactionOf(change: SharedChange, base: TransactionBase): Transaction {
  const { actor, trace, position } = change;
  const transaction = Object.assign(new Transaction(base), { isForeign: true, actor, trace, position });
  for (const [iri, record] of change.records) {
    const before = transaction.record(iri);
    if (record) transaction.putRecord(record);
    else if (before) transaction.deleteRecord(before);
  }
  for (const [key, value] of change.entries)
    if (value === null) transaction.deleteEntry(key);
    else transaction.putEntry(key, value);
  for (const [key, value] of change.postings ?? []) transaction.postings.set(key, value);
  for (const { iri, added, removed, triples, isPart = false } of change.graphs)
    if (triples) transaction.graphs.set(iri, { added, removed, triples, isPart, before: undefined, keys: undefined });
    else transaction.writeHidden(iri, { added, removed });
  transaction.changes.push(...change.changes);
  transaction.announcements.push(...change.announcements);
  return transaction;
}
