/**
 * Records: metadata of each resource besides its content, and their keys. A record's key is its parent and its name, so the
 * members of a container are one sorted range: a listing is one scan, and membership cannot disagree with the records.
 */
import { randomBytes } from 'node:crypto';
import type { BlobFacts } from './blob-integrity.js';
import type { IriRange } from './iri-ranges.js';
import type { RdfVersion } from './key-layout.js';

export type ResourceKind = 'container' | 'rdf' | 'json' | 'binary';

/** Immutable description of one state of one resource. */
export interface ResourceRecord {
  readonly iri: string;
  readonly kind: ResourceKind;
  /** Random name of the state, never reused. The opaque part of entity tags (rule 8.1). */
  readonly revision: string;
  /** Stored media type; for containers, the media type of the listing. */
  readonly mediaType: string;
  /** Size in bytes: of the content, or for RDF of the default Turtle (rule 9.1). 0 for containers. */
  readonly size: number;
  /** Times of creation and of the last change, in milliseconds since the epoch. */
  readonly created: number;
  readonly modified: number;
  /** True if the previous state was modified within the same second: Last-Modified does not distinguish the two states. */
  readonly sharesSecond?: true | undefined;
  /** Identity with every mode on the resource in owner mode (rule 2.8). Absent in open mode. */
  readonly owner?: string;
  /** Number of members of a container. */
  readonly members?: number;
  /** RDF: count of triples, and prefixes for its Turtle. */
  readonly triples?: number;
  /** RDF: `KeyDigest` of the keys of the graph, after the first characters of the revision (see graph-digests.ts). */
  readonly digest?: string | undefined;
  readonly prefixes?: Readonly<Record<string, string>>;
  /** RDF: version of RDF that the terms require. Partial removals from a large graph do not lower it. */
  readonly rdfVersion?: RdfVersion | undefined;
  /** JSON and binary: the name of the blob, and the SHA-256 of its bytes (base64). */
  readonly blob?: string;
  readonly sha256?: string;
  /** Types that clients declared in the linkset, for listings. */
  readonly types?: readonly string[];
  /** Time of the last write of client-managed links, in milliseconds since the epoch. Absent: never written. */
  readonly linked?: number;
  /** True if the previous links were written within the same second. */
  readonly linkedSharesSecond?: true;
  /** Revision of the resource's own ACL, an entry that is deleted with it. `true`: an earlier version wrote the ACL. */
  readonly acl?: string | true;
}

/** Returns the facts about the blob of a record. */
export const blobFacts = ({ blob, size, sha256 }: ResourceRecord): BlobFacts => ({
  blob: blob!,
  size,
  sha256: sha256!,
});

/** Creates a revision of 72 random bits. A counter would reveal the number of writes to other callers. */
export function newRevision(): string {
  if (poolAt + 9 > pool.length) [pool, poolAt] = [randomBytes(4608), 0];
  const revision = pool.toString('base64url', poolAt, poolAt + 9);
  poolAt += 9;
  return revision;
}
let pool = randomBytes(4608);
let poolAt = 0;

/** Returns the parent container of an IRI: everything up to the last slash, without a trailing slash. */
export const parentOf = (iri: string): string => iri.slice(0, iri.lastIndexOf('/', iri.length - 2) + 1);
/** Returns the last segment of an IRI, with the trailing slash of a container. */
export const nameOf = (iri: string): string => iri.slice(iri.lastIndexOf('/', iri.length - 2) + 1);
export const isContainerIri = (iri: string): boolean => iri.endsWith('/');

/** Separates the parts of all keys except those of quads. IRIs never contain this character. */
const separator = '\u0000';
const recordSpace = `R${separator}`;

export const recordKey = (iri: string): string => `${recordSpace}${parentOf(iri)}${separator}${nameOf(iri)}`;

/** Returns the range of the member records of a container, in the order of their IRIs. @param from IRI of the first member */
export const memberRange = (container: string, from?: string): KeyRange => ({
  ...rangeOf(`${recordSpace}${container}${separator}`),
  ...(from === undefined ? {} : { gte: recordKey(from) }),
});
export const allRecords = (): KeyRange => rangeOf(recordSpace);

/**
 * Returns the key ranges with the records of the resources in a range: members of the containers in it, and of the containers
 * around its start. The key ranges include records of other resources only if the range ends inside a container.
 */
export function recordsIn({ from, to }: IriRange): KeyRange[] {
  // A range that begins directly after a container does not include its members.
  const first = from.endsWith(separator) ? `${from.slice(0, -1)}\u0001` : from;
  const ranges = [{ gte: recordSpace + first, lt: recordSpace + to }];
  for (let at = from.indexOf('/'); at >= 0 && at < from.length - 1; at = from.indexOf('/', at + 1)) {
    const parent = from.slice(0, at + 1);
    const members = memberRange(parent);
    const lt = to.startsWith(parent) ? members.gte + to.slice(parent.length) : members.lt;
    ranges.push({ gte: members.gte + from.slice(parent.length), lt });
  }
  return ranges;
}

export interface KeyRange {
  readonly gte: string;
  readonly lt: string;
}

/** Applies staged entries of a range to the entries `found`, and returns the result. */
export function layEntries(
  found: Map<string, string>,
  { gte, lt }: KeyRange,
  staged: Iterable<readonly [string, string | null]>,
): Map<string, string> {
  for (const [key, value] of staged) {
    if (key < gte || key >= lt) continue;
    if (value === null) found.delete(key);
    else found.set(key, value);
  }
  return found;
}

/** Returns the range of all keys with a prefix, which must end with U+0000. */
export const rangeOf = (prefix: string): KeyRange => ({ gte: prefix, lt: `${prefix.slice(0, -1)}\u0001` });

export function iriOfRecordKey(key: string): string {
  const cut = key.indexOf(separator, recordSpace.length);
  return key.slice(recordSpace.length, cut) + key.slice(cut + 1);
}

export function writeRecord(record: ResourceRecord): string {
  return JSON.stringify(Object.assign({}, record, { iri: undefined }));
}

export const readRecord = (iri: string, value: string): ResourceRecord => ({ iri, ...JSON.parse(value) });

/**
 * Returns the key of an entry: a small value of a feature, written in the same batch as the change it belongs to.
 * @param space the feature
 * @param parts without U+0000
 */
export const entryKey = (space: string, ...parts: readonly string[]): string =>
  `E${separator}${[space, ...parts].join(separator)}`;
/** Returns the range of the entries below some parts. */
export const entryRange = (space: string, ...parts: readonly string[]): KeyRange =>
  rangeOf(`${entryKey(space, ...parts)}${separator}`);
/** Returns the key of the record of a deleted resource whose content and entries are still to be removed. */
export const removedKey = (iri: string): string => entryKey('removed', iri);
export const allRemoved = (): KeyRange => entryRange('removed');
/** Returns the space of an entry's key: its first part. */
export function spaceOfEntry(key: string): string {
  const end = key.indexOf(separator, 2);
  return key.slice(2, end < 0 ? undefined : end);
}
/** Returns the parts of an entry's key, space first. */
export const partsOfEntry = (key: string): string[] => key.split(separator).slice(1);

type FactOfStorage =
  | 'version'
  | 'features'
  | 'digest'
  | 'storage'
  | 'bytes'
  | 'quads'
  | 'counted'
  | 'lines'
  | 'restoring';
/** Facts about this data directory only. Other copies of the storage have different values. */
type FactOfFolder = 'batch' | 'journal' | 'orders' | 'position' | 'row' | 'opened' | 'resources';
/** Returns the key of a fact about the whole store. */
export const metaKey = (name: FactOfStorage | FactOfFolder): string => `M${separator}${name}`;
/**
 * Key of a blob's state. `B`: the value is the blob's resource. `G`: nothing refers to the blob, whose file must be removed.
 */
export const blobKey = (blob: string): string => `B${separator}${blob}`;
export const garbageKey = (blob: string): string => `G${separator}${blob}`;
export const allBlobs = (): KeyRange => rangeOf(`B${separator}`);
export const allGarbage = (): KeyRange => rangeOf(`G${separator}`);
