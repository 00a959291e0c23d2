/** Reads the client-managed links of earlier states. */
import { linksKey } from '../../lib/resources/metadata.js';
import { StoreSnapshot } from '../../lib/storage/graphs/snapshot.js';
import { type ResourceRecord, readRecord, recordKey } from '../../lib/storage/keys/records.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { type HistoryState, noLinks, readVersion, versionsBetween } from './entries.js';

/** Maximum number of versions to read for links. Greater than the distance between two versions with all triples. */
const maxVersions = 1_100;

/**
 * Returns the client-managed links of a state as text: its own, or those of a later state whose links have the same date.
 * @returns `undefined` if the links were not kept, as by earlier versions of Quadpod
 */
export async function pastLinks(
  { level }: Pick<Store, 'level'>,
  { record, began, ended = began, links }: HistoryState,
): Promise<string | undefined> {
  const { iri, linked, created } = record;
  if (links !== undefined) return links;
  if (linked === undefined) return noLinks;
  // Each write of links sets a later date, and a MOVE keeps the date of creation. So states with equal dates have equal links.
  const isSame = (other: ResourceRecord): boolean => other.linked === linked && other.created === created;
  const snapshot = new StoreSnapshot(level);
  try {
    const [present, text = noLinks] = await snapshot.values([recordKey(iri), linksKey(iri)]);
    if (present !== undefined && isSame(readRecord(iri, present))) return text;
    let count = 0;
    for await (const block of snapshot.entries(versionsBetween(iri, ended)))
      for (const [key, value] of block) {
        const next = readVersion(key, value);
        if (!isSame(next.record) || ++count > maxVersions) return undefined;
        if (next.links !== undefined) return next.links;
      }
    return undefined;
  } finally {
    await snapshot.close();
  }
}
