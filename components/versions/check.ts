/** Checks the integrity of versions, for `quadpod check`. */

import { declaredTypes } from '../../lib/resources/linkset.js';
import { isDropped, stagedKey } from '../../lib/storage/graphs/staged-keys.js';
import { keptBlobFacts, keptBlobs, readKeptBlob } from '../../lib/storage/keys/kept-blobs.js';
import { partsOfEntry, readRecord, removedKey } from '../../lib/storage/keys/records.js';
import { versionEntries } from '../../lib/storage/keys/version-entries.js';
import type { Store } from '../../lib/storage/transactions/store.js';
import { addCount } from '../../lib/tools/collections.js';
import { allHeads, dataRange, type EndedState, headIn, readVersion } from './entries.js';

/** Yields the problems of versions: missing triples, differences to a state that does not follow, and blobs. */
export async function* versionFaults(store: Store): AsyncGenerator<string> {
  const counts = new Map<string, number>();
  let previous: EndedState | undefined;
  for await (const block of store.entries(versionEntries))
    for (const [key, value] of block) {
      const version = readVersion(key, value);
      const { record, ended } = version;
      if (previous?.graph === 'delta' && !follows(previous, version, store)) yield unread(previous);
      const { graph, short, pieces = 0 } = version;
      const hasNone = graph === 'delta' && short === undefined && pieces === 0;
      if (hasNone || pieces !== (await piecesOf(store, version)) || isLost(version, store)) yield unread(version);
      if (record.blob) addCount(counts, record.blob, 1);
      const { links } = version;
      if (links !== undefined && (record.types ?? []).join(' ') !== declaredTypes(JSON.parse(links)).join(' '))
        yield `The types in the record of the version of ${record.iri} until ${ended} differ from those in its links.`;
      if (version.began >= ended) yield `A version of ${record.iri} ended before it began.`;
      previous = version;
    }
  if (previous?.graph === 'delta' && !follows(previous, undefined, store)) yield unread(previous);
  for await (const block of store.entries(keptBlobs))
    for (const entry of block) {
      const { blob } = keptBlobFacts(entry);
      const count = counts.get(blob) ?? 0;
      counts.delete(blob);
      const { count: noted } = readKeptBlob(entry[1]);
      if (noted !== count) yield `The blob ${blob} is kept for ${noted} versions, but ${count} have it.`;
    }
  for (const blob of counts.keys()) yield `The blob ${blob} of a version is not kept.`;
  for await (const block of store.entries(allHeads))
    for (const [key, value] of block) {
      const iri = partsOfEntry(key)[1]!;
      if (presentRevision(store, iri) !== headIn(value)!.revision)
        yield `The history of ${iri} does not continue to its present state.`;
    }
}

/** Returns true if a version's difference applies to the next version of the resource, or to its present state. */
const follows = ({ record: { iri }, next }: EndedState, other: EndedState | undefined, store: Store): boolean =>
  next === (other?.record.iri === iri ? other.record.revision : presentRevision(store, iri));

/** Returns true if a version still needs triples of a dropped graph, but these are not being removed. */
const isLost = ({ isOpen, record: { iri } }: EndedState, store: Store): boolean =>
  isOpen === true && !isDropped(store.entry(stagedKey(iri)));

/** Returns the present revision, also of a resource in a deleted container whose content is still to be removed. */
function presentRevision(store: Store, iri: string): string | undefined {
  const removed = store.entry(removedKey(iri));
  return (removed === undefined ? store.record(iri) : readRecord(iri, removed))?.revision;
}

const unread = ({ record: { iri }, ended }: EndedState): string =>
  `The version of ${iri} until ${ended} cannot be read.`;

async function piecesOf(store: Store, { record: { iri }, ended }: EndedState): Promise<number> {
  let pieces = 0;
  for await (const keys of store.keys(dataRange(iri, ended))) pieces += keys.length;
  return pieces;
}
