/**
 * Stores digests of graphs in their records, and compares graphs with them: LevelDB can return deleted keys (decision 168), and
 * disks can lose or change bits.
 */
import { LwsError, tooBusy } from '../../tools/errors.js';
import type { GraphChange } from '../keys/graph-changes.js';
import { blocksOf, type GraphKeys, PackedKeys, versionOfGraph } from '../keys/graph-keys.js';
import { KeyDigest, mostForTwo, textsOf } from '../keys/key-digest.js';
import { laterVersion, type RdfVersion, versionOf } from '../keys/key-layout.js';
import type { ResourceRecord } from '../keys/records.js';

/**
 * Characters of the revision that precede a digest. Earlier versions do not update the digest when they change a graph, but
 * assign another revision, so that the digest no longer applies.
 */
const revisionCharacters = 4;

/** Digests of packed keys that `digestedBlocks` has read. */
const known = new WeakMap<PackedKeys, KeyDigest>();

/** Yields the blocks of keys and caches their digest, so that a transaction need not unpack the keys again. */
export function* digestedBlocks(keys: GraphKeys): Generator<readonly string[]> {
  const digest = new KeyDigest();
  for (const block of blocksOf(keys)) {
    digest.toggle(block);
    yield block;
  }
  if (keys instanceof PackedKeys) known.set(keys, digest);
}

function digestOf(keys: GraphKeys): KeyDigest {
  const found = keys instanceof PackedKeys ? known.get(keys) : undefined;
  if (found) return found;
  const digest = new KeyDigest();
  for (const block of blocksOf(keys)) digest.toggle(block);
  return digest;
}

/** Returns the digest in a record; `undefined` if there is none, or an earlier version has changed the graph since. */
export function digestIn({ digest, revision }: ResourceRecord): KeyDigest | undefined {
  if (!digest?.startsWith(revision.slice(0, revisionCharacters))) return undefined;
  return KeyDigest.read(digest.slice(revisionCharacters));
}

/** Returns the record with the digest of its graph. */
export function withDigest(record: ResourceRecord, digest: KeyDigest | undefined): ResourceRecord {
  const value = digest && record.revision.slice(0, revisionCharacters) + digest.toString();
  return value === record.digest ? record : Object.assign({}, record, { digest: value });
}

/**
 * Returns the digest of a graph after a change.
 * @param record previous record; `undefined` for a new resource
 * @param change undefined if the graph does not change
 */
export function digestAfter(
  record: ResourceRecord | undefined,
  change: GraphChange | undefined,
): KeyDigest | undefined {
  const old = record?.kind === 'rdf' ? digestIn(record) : change && new KeyDigest();
  if (!change) return old;
  const { added, removed, keys, digest } = change;
  if (digest !== undefined) return KeyDigest.read(digest);
  // Update the old digest if this is cheaper than a new one. The keys in `before` were compared with the old digest when read.
  const isLess = change.before?.length && added.length + removed.length < (keys?.length ?? 0);
  if (old && (change.isPart || isLess)) return old.toggle(added).toggle(removed);
  return keys && digestOf(keys);
}

/**
 * Returns the version of RDF that a graph requires after a change.
 * @param record previous record; `undefined` for a new resource
 * @param change undefined if the graph does not change
 */
export function versionAfter(
  record: ResourceRecord | undefined,
  change: GraphChange | undefined,
): RdfVersion | undefined {
  const old = record?.kind === 'rdf' ? record.rdfVersion : undefined;
  if (!change) return old;
  const { added, before, keys, isPart, isPartners, version } = change;
  if (isPartners) return version;
  // Remaining triples require at most the previous version.
  if (isPart || (!old && before?.length && keys)) return laterVersion(old, versionOf(added));
  return keys && versionOfGraph(keys);
}

/** Thrown if a graph differs from what was written, and the difference is unknown. No part of the graph may be served. */
export class DamagedGraphError extends LwsError {
  /** @param keys the keys that were found, if the graph is not large */
  constructor(
    iri: string,
    readonly keys: readonly string[] = [],
  ) {
    super(
      'damaged-content',
      'The stored graph differs from what was written. Replace or delete the resource, or tell the operator to run "quadpod check --repair" and to restore the resource from a backup.',
      { reason: `the quads of ${iri} do not have the digest in its record` },
    );
  }
}

/** Keys of a graph that were deleted and that LevelDB returned (decision 168). */
export interface ReturnedKeys {
  readonly iri: string;
  /** Revision of the resource when the keys were found. */
  readonly revision: string | undefined;
  readonly keys: readonly string[];
}

/**
 * Compares the keys of a graph with the digest in its record.
 * @returns the deleted keys that LevelDB returned; `undefined` if there are none
 * @throws DamagedGraphError
 */
export function returnedKeys(record: ResourceRecord, keys: readonly string[]): ReturnedKeys | undefined {
  const digest = digestIn(record);
  if (!digest || digest.toggle(keys).isZero) return undefined;
  const { iri, revision, triples = 0 } = record;
  const count = keys.length - triples;
  const found = count > 0 ? textsOf(digest, keys, count) : undefined;
  if (!found) throw new DamagedGraphError(iri, keys);
  return { iri, revision, keys: found };
}

/** Returns sorted keys without the deleted keys that LevelDB returned. */
export const withoutReturned = (keys: readonly string[], returned: ReturnedKeys): string[] =>
  keys.filter((key) => !returned.keys.includes(key));

/**
 * Yields the keys of a graph in blocks. The last block is delayed until all keys are compared with the digest in the record.
 * @param read reads all keys of one snapshot; it may be called twice
 * @param onReturned called for deleted keys that LevelDB returned, and that the reader may already have received
 * @throws LwsError `too-busy` after such keys; DamagedGraphError
 */
export async function* comparedBlocks(
  record: ResourceRecord,
  read: () => AsyncIterable<readonly string[]>,
  onReturned: (returned: ReturnedKeys) => void,
): AsyncGenerator<readonly string[]> {
  const { iri, revision, triples = 0 } = record;
  const digest = digestIn(record);
  let held: readonly string[] = [];
  let count = 0;
  for await (const keys of read()) {
    if (held.length > 0) yield held;
    digest?.toggle(keys);
    count += keys.length;
    held = keys;
  }
  if (digest?.isZero === false) {
    const found = await textsIn(digest, read, count - triples);
    if (!found) throw new DamagedGraphError(iri);
    onReturned({ iri, revision, keys: found });
    throw tooBusy('Deleted triples returned to the graph. They are being removed. Retry in a few seconds.', 1);
  }
  if (held.length > 0) yield held;
}

/** Returns the keys of a graph that its digest does not include; `undefined` if they cannot be determined. */
export async function keysTooMany(
  record: ResourceRecord,
  read: () => AsyncIterable<readonly string[]>,
): Promise<readonly string[] | undefined> {
  const digest = digestIn(record) ?? new KeyDigest();
  let count = 0;
  for await (const keys of read()) {
    digest.toggle(keys);
    count += keys.length;
  }
  // The graph was replaced meanwhile, or an earlier version has changed it.
  if (digest.isZero || !digestIn(record)) return [];
  return textsIn(digest, read, count - (record.triples ?? 0));
}

/** Like `textsOf`, but does not keep all keys of a large graph in memory if only one key is wanted. */
async function textsIn(
  difference: KeyDigest,
  read: () => AsyncIterable<readonly string[]>,
  count: number,
): Promise<readonly string[] | undefined> {
  const all: string[] = [];
  if (count <= 0) return undefined;
  for await (const keys of read()) {
    const found = count === 1 ? textsOf(difference, keys, 1) : undefined;
    if (found) return found;
    if (count > 1 && all.length <= mostForTwo) for (const key of keys) all.push(key);
  }
  return textsOf(difference, all, count);
}
