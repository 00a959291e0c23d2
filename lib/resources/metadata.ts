/** Stores the client-managed links of a resource: in an entry, and the declared types also in the record. */

import { StagedNames } from '../storage/graphs/staged-keys.js';
import { difference } from '../storage/keys/graph-changes.js';
import { graphPrefix } from '../storage/keys/quad-keys.js';
import { entryKey, partsOfEntry, type ResourceRecord, rangeOf } from '../storage/keys/records.js';
import { recordBlocks } from '../storage/level/all-records.js';
import type { Changes, StorageFault } from '../storage/transactions/repair.js';
import type { Store } from '../storage/transactions/store.js';
import type { Transaction } from '../storage/transactions/transaction.js';
import { LwsError } from '../tools/errors.js';
import type { Link } from '../tools/fields/link.js';
import { parseJson } from '../tools/json/json.js';
import { allLinks, type ClientLinks, declaredTypes, linksetGraph, linksOfHeader, mergeLinks } from './linkset.js';
import { linksetOf } from './names.js';
import { dateAfter } from './preconditions.js';
import type { Storage } from './storage.js';

export const linksKey = (iri: string): string => entryKey('links', iri);

/** Returns the client-managed links of a resource, read from `view`. */
export function clientLinks(view: { entry(key: string): string | undefined }, iri: string): ClientLinks {
  const value = view.entry(linksKey(iri));
  return value === undefined ? {} : (JSON.parse(value) as ClientLinks);
}

/**
 * Returns the stored form of links: text, and the keys of their graph.
 * @throws LwsError for links that cannot be stored: `linkset-too-large` (rule 11.8), `malformed-body`, `unsupported-rdf`
 */
export function keptLinks(
  storage: Storage,
  iri: string,
  links: ClientLinks,
): { readonly value: string; readonly keys: readonly string[] } {
  const value = JSON.stringify(links);
  if (Buffer.byteLength(value) > storage.limits.linksetBytes) throw linksetTooLarge(storage);
  // Check the nesting depth as part of a document, so that clients can send back the document they read.
  parseJson(`{"linkset":[${value}]}`);
  return { value, keys: linksetGraph(links, iri) };
}

/** Stages links that replace the earlier links. The caller stages the returned record. @throws LwsError as `keptLinks` */
export function stageLinks<T extends ResourceRecord>(
  storage: Storage,
  tx: Transaction,
  record: T,
  links: ClientLinks,
): T {
  const { value, keys } = keptLinks(storage, record.iri, links);
  const before = record.linked === undefined ? {} : clientLinks(tx, record.iri);
  stageLinksetGraph(tx, record.iri, before, keys);
  if (value !== '{}') tx.putEntry(linksKey(record.iri), value);
  else if (record.linked !== undefined) tx.deleteEntry(linksKey(record.iri));
  const types = declaredTypes(links);
  const { types: _before, linkedSharesSecond: _second, ...rest } = record;
  // A linkset that was never written has the creation date of the resource.
  const previous = record.linked ?? tx.before.record(record.iri)?.created;
  const date = dateAfter(previous === undefined ? undefined : { modified: previous }, storage.clock());
  return {
    ...rest,
    ...(types.length > 0 ? { types } : {}),
    linked: date.modified,
    ...(date.sharesSecond ? { linkedSharesSecond: true } : {}),
  } as T;
}

/** Returns true if a transaction writes the links of a resource. Dates cannot show this: two writes can have the same date. */
export const changesLinks = (tx: Transaction, iri: string): boolean => tx.entries.has(linksKey(iri));

/** Stages the deletion of the links of a resource that is deleted (rule 11.4). */
export function deleteLinks(tx: Transaction, { iri, linked }: ResourceRecord): void {
  if (linked === undefined) return;
  stageLinksetGraph(tx, iri, clientLinks(tx, iri), []);
  tx.deleteEntry(linksKey(iri));
}

/** Stages the graph of a linkset, from which queries read the links. */
function stageLinksetGraph(tx: Transaction, iri: string, before: ClientLinks, fresh: readonly string[]): void {
  const old = linksetGraph(before, iri);
  if (fresh.length > 0) tx.putGraph(linksetOf(iri), old, fresh);
  else if (old.length > 0) tx.deleteGraph(linksetOf(iri), old);
}

/**
 * Stages the Link fields of a request. With PUT and on a new resource, they replace all links. With PATCH, they replace the
 * relations that they name (rule 11.10). Without Link fields, the record is unchanged.
 */
export function stageHeaderLinks<T extends ResourceRecord>(
  storage: Storage,
  tx: Transaction,
  record: T,
  links: readonly Link[] | undefined,
  partial = false,
): T {
  if (!links) return record;
  const before = record.linked === undefined ? {} : clientLinks(tx, record.iri);
  const given = linksOfHeader(links, record.iri);
  const after = partial ? mergeLinks(before, given) : given;
  return sameLinks(before, after) ? record : stageLinks(storage, tx, record, after);
}

export const sameLinks = (a: ClientLinks, b: ClientLinks): boolean => JSON.stringify(a) === JSON.stringify(b);

export const linksetTooLarge = ({ limits }: Storage): LwsError =>
  new LwsError(
    'linkset-too-large',
    `The linkset exceeds the limit of ${limits.linksetBytes} bytes (lws.linkset.max-bytes).`,
  );

/** Yields integrity faults: a linkset without resource, and a record whose declared types differ from its linkset. */
export async function* linksetFaults(store: Store): AsyncGenerator<StorageFault> {
  const described = new Set<string>();
  // Links of a deleted subtree are removed later than its records.
  const staged = await StagedNames.of(store);
  for await (const entries of store.entries(allLinks))
    for (const [key, value] of entries) {
      const [, iri] = partsOfEntry(key) as [string, string];
      if (staged.has(iri)) continue;
      const record = store.record(iri);
      const links = JSON.parse(value) as ClientLinks;
      described.add(iri);
      if (record?.linked === undefined) {
        yield { text: `The linkset of ${iri} has no resource.`, changes: [[key, null]] };
        continue;
      }
      const changes = await graphChanges(store, linksetOf(iri), linksetGraph(links, iri));
      if (changes.length > 0) yield { text: `The graph of the linkset of ${iri} differs from the linkset.`, changes };
      const types = declaredTypes(links);
      if (JSON.stringify(record.types ?? []) !== JSON.stringify(types))
        yield { text: `The types in the record of ${iri} differ from those declared in its linkset.` };
    }
  for await (const records of recordBlocks(store))
    for (const { iri, types } of records)
      if (types && !described.has(iri)) yield { text: `${iri} has declared types but no linkset.` };
}

async function graphChanges(store: Store, graph: string, keys: readonly string[]): Promise<Changes> {
  const found: string[] = [];
  for await (const block of store.keys(rangeOf(graphPrefix(graph)))) found.push(...block);
  const { added, removed } = difference(found, keys);
  return [...added.map((key) => [key, ''] as const), ...removed.map((key) => [key, null] as const)];
}
