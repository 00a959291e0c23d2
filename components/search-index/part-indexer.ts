/**
 * Keeps the index where a part of a large graph changes: what its own statements say is put and removed, and the others are looked for only
 * where one of them may say the same.
 */

import { entryKey, type ResourceRecord } from '../../lib/component/entries.js';
import { type IriStatement, statementReader } from '../../lib/component/graphs.js';
import { changesLinks, clientLinks } from '../../lib/component/resources.js';
import type { Transaction } from '../../lib/component/store.js';
import { entriesOf, postingSpace, relationOf, typeRelation } from './postings.js';

/** A posting, and a statement that it comes of. */
interface Said {
  readonly relation: string;
  readonly object: string;
}

/**
 * Stages what the change of a part makes of the index.
 * @returns false when all of the graph has to be read instead: when types come or go, which the list of the owner's resources has
 */
export async function indexPart(tx: Transaction, before: ResourceRecord, after: ResourceRecord): Promise<boolean> {
  const { iri } = after;
  const change = tx.graphs.get(iri);
  if (!change?.isPart || before.owner !== after.owner || changesLinks(tx, iri)) return false;
  const read = statementReader(iri);
  const [added, removed] = [postingsOf(iri, change.added, read), postingsOf(iri, change.removed, read)];
  const links = after.linked === undefined ? {} : clientLinks(tx, iri);
  const linked = await entriesOf({ record: after, keys: [], links });
  const gone: string[] = [];
  for (const [key, said] of removed) {
    if (added.has(key) || linked.has(key)) continue;
    const remains = await isSaidElsewhere(tx, before, { said, removed: new Set(change.removed), read });
    if (remains === undefined || (!remains && said.relation === typeRelation)) return false;
    if (!remains) gone.push(key);
  }
  const fresh = [...added].filter(([key]) => tx.entry(key) === undefined);
  if (fresh.some(([, { relation }]) => relation === typeRelation)) return false;
  for (const key of gone) tx.deleteEntry(key);
  for (const [key] of fresh) tx.putEntry(key, '');
  return true;
}

function postingsOf(iri: string, keys: readonly string[], read: ReturnType<typeof statementReader>): Map<string, Said> {
  const found = new Map<string, Said>();
  for (const key of keys) {
    const statement = read(key);
    const relation = statement && relationOf(statement);
    if (!statement || relation === undefined) continue;
    found.set(entryKey(postingSpace, relation, statement[1], iri), { relation, object: statement[1] });
  }
  return found;
}

interface Search {
  readonly said: Said;
  readonly removed: ReadonlySet<string>;
  readonly read: (key: string) => IriStatement | undefined;
}

/** Whether a statement that stays says the same; `undefined` when nobody can say quickly. */
async function isSaidElsewhere(
  tx: Transaction,
  record: ResourceRecord,
  { said, removed, read }: Search,
): Promise<boolean | undefined> {
  const blocks = tx.keysWithObject(record, said.object);
  if (!blocks) return undefined;
  for await (const keys of blocks)
    for (const key of keys) {
      const statement = removed.has(key) ? undefined : read(key);
      if (statement && relationOf(statement) === said.relation) return true;
    }
  return false;
}
