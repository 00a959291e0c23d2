/** PATCH of a part of a large graph: triples that an update names are written and removed, and nothing else is looked at. */
import type { DataChange } from '../query/data-change.js';
import { boundedPrefixes } from '../rdf/prefixes.js';
import type { Transaction } from '../storage/engine/transaction.js';
import type { KeyDifference } from '../storage/graphs/graph-changes.js';
import { charactersOf } from '../storage/graphs/graph-keys.js';
import { isLargeGraph, lineCounter } from '../storage/graphs/graph-lines.js';
import { newRevision, type ResourceRecord } from '../storage/state/records.js';
import { stageHeaderLinks } from './metadata.js';
import { dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';
import type { WriteRequest } from './write.js';

const keysAtATime = 1000;

interface PartRequest extends Pick<WriteRequest, 'links'> {
  readonly change: DataChange;
  /** Characters of the update. */
  readonly length: number;
}

/**
 * Stages what an update changes of a large graph.
 * @returns the record afterwards; `unchanged`: the update changes nothing; `undefined`: the graph is not large, or will not be
 * @throws LwsError `too-large`
 */
export async function stagePart(
  storage: Storage,
  tx: Transaction,
  { before, request }: { readonly before: ResourceRecord; readonly request: PartRequest },
): Promise<ResourceRecord | 'unchanged' | undefined> {
  const { change, length, links } = request;
  const triples = before.triples ?? 0;
  if (!isLargeGraph(triples)) return undefined;
  const added = await keysThat(tx, before, { keys: change.added, are: false });
  const removed = await keysThat(tx, before, { keys: change.removed, are: true });
  if (added.length === 0 && removed.length === 0) return 'unchanged';
  const after = triples + added.length - removed.length;
  if (!isLargeGraph(after)) return undefined;
  storage.documents.assertGrown({ before: triples, after, characters: charactersOf(added) }, length);
  const { sharesSecond: _second, ...rest } = before;
  const changed: ResourceRecord = {
    ...rest,
    ...dateAfter(before, storage.clock()),
    revision: newRevision(),
    triples: after,
    size: before.size + (await sizeOf(added)) - (await sizeOf(removed)),
    prefixes: boundedPrefixes({ ...change.prefixes, ...before.prefixes }),
  };
  const record = stageHeaderLinks(storage, tx, changed, links, true);
  tx.changeGraph(before.iri, { added, removed } satisfies KeyDifference, triples);
  tx.putRecord(record);
  tx.changed({ before, after: record });
  return record;
}

/** Those that are in the graph, or are not. */
async function keysThat(
  tx: Transaction,
  record: ResourceRecord,
  { keys, are }: { readonly keys: readonly string[]; readonly are: boolean },
): Promise<string[]> {
  const found: string[] = [];
  for (let at = 0; at < keys.length; at += keysAtATime) {
    const slice = keys.slice(at, at + keysAtATime);
    const has = await tx.hasKeys(record, slice);
    for (const [index, key] of slice.entries()) if (has[index] === are) found.push(key);
  }
  return found;
}

async function sizeOf(keys: readonly string[]): Promise<number> {
  const count = lineCounter();
  let size = 0;
  for (const [index, key] of keys.entries()) {
    if (index % keysAtATime === keysAtATime - 1) await new Promise((resolve) => setImmediate(resolve));
    size += count(key);
  }
  return size;
}
