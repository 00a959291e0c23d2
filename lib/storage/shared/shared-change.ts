/**
 * Writes the changes of transactions as bytes for the other servers of a storage, and reads them. Of the four keys of a quad only that of
 * GSPO is written, since the others follow from it.
 */
import type { Trace } from '../../fields/traceparent.js';
import type { ResourceRecord } from '../keys/records.js';
import { Transaction, type TransactionBase } from '../transactions/transaction.js';

interface SharedGraph {
  readonly iri: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** How many triples the graph had and has; absent: it is a hidden graph. */
  readonly triples?: { readonly before: number; readonly after: number };
  readonly isPart?: boolean;
}

/** The members of a transaction that other servers need. */
interface SharedChange {
  readonly records: readonly (readonly [iri: string, record: ResourceRecord | null])[];
  readonly entries: readonly (readonly [key: string, value: string | null])[];
  readonly graphs: readonly SharedGraph[];
  readonly changes: Transaction['changes'];
  readonly announcements: Transaction['announcements'];
  readonly actor?: string | undefined;
  readonly trace?: Trace | undefined;
  readonly position: number;
}

/** @throws Error for a transaction with a partner, whose graphs only another thread has */
export function writeChanges(transactions: readonly Transaction[]): Buffer {
  return Buffer.from(JSON.stringify(transactions.map(changeOf)));
}

function changeOf(transaction: Transaction): SharedChange {
  if (transaction.partner) throw new Error('What another thread writes cannot be shared with other servers.');
  const { records, entries, graphs, hidden, changes, announcements, actor, trace, position } = transaction;
  return {
    records: [...records],
    entries: [...entries],
    graphs: [
      ...[...graphs].map(([iri, { added, removed, triples, isPart }]) => ({
        iri,
        added,
        removed,
        triples,
        isPart,
      })),
      ...[...hidden].map(([iri, { added, removed }]) => ({ iri, added, removed })),
    ],
    changes,
    announcements,
    actor,
    trace,
    position,
  };
}

/**
 * The transactions of another server, in their order. The caller lays each over the state before it asks for the next.
 * @param base the state that they are read on, with the earlier ones laid over it
 */
export function* readChanges(body: Buffer, base: TransactionBase): Generator<Transaction> {
  for (const change of JSON.parse(body.toString()) as SharedChange[]) yield transactionOf(change, base);
}

function transactionOf(change: SharedChange, base: TransactionBase): Transaction {
  const transaction = new Transaction(base);
  transaction.isForeign = true;
  for (const [iri, record] of change.records) {
    const before = transaction.record(iri);
    if (record) transaction.putRecord(record);
    else if (before) transaction.deleteRecord(before);
  }
  for (const [key, value] of change.entries)
    if (value === null) transaction.deleteEntry(key);
    else transaction.putEntry(key, value);
  for (const { iri, added, removed, triples, isPart = false } of change.graphs)
    if (triples) transaction.graphs.set(iri, { added, removed, triples, isPart, before: undefined, keys: undefined });
    else transaction.writeHidden(iri, { added, removed });
  transaction.changes.push(...change.changes);
  transaction.announcements.push(...change.announcements);
  transaction.actor = change.actor;
  transaction.trace = change.trace;
  transaction.position = change.position;
  return transaction;
}
