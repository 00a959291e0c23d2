/** Entries with the earlier states of resources. */

import { declareDerivedEntries } from '../../lib/storage/keys/derived-entries.js';
import type { KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { type GraphKeys, packChunk, packedOf } from '../../lib/storage/keys/graph-keys.js';
import {
  entryKey,
  entryRange,
  type KeyRange,
  partsOfEntry,
  type ResourceRecord,
} from '../../lib/storage/keys/records.js';
import { positionsPerMs } from '../../lib/storage/log/change-entry.js';

/** A state of a data resource that was replaced or deleted. Positions are those of the change log. */
export interface EndedState {
  /** Position of the transaction that began the state. It identifies the version. */
  readonly began: number;
  /** Position of the transaction that ended it. */
  readonly ended: number;
  readonly record: ResourceRecord;
  /** Subject of the request that began it. */
  readonly actor?: string | undefined;
  /** Revision of the state that followed; absent after a deletion. */
  readonly next?: string | undefined;
  /** Triples: all keys, or the difference to the state that followed. Absent for a blob. Those of large graphs are not kept. */
  readonly graph?: 'whole' | 'delta';
  /** Number of entries with the triples. */
  readonly pieces?: number;
}

/** The present state of a resource with a history. */
export interface Head {
  readonly revision: string;
  readonly began: number;
  /** Beginning of the oldest version of the resource since it was created, or since versions are kept. */
  readonly first: number;
  readonly actor?: string | undefined;
  /** Number of differences since the last version with all triples, and of the triples in them. */
  readonly deltas: number;
  readonly changed?: number;
}

/** Maximum characters of a value. */
const pieceCharacters = 1 << 20;

export const paddedPosition = (position: number): string => String(position).padStart(16, '0');

export const headKey = (iri: string): string => entryKey('versions-heads', iri);
export const versionKey = (iri: string, ended: number): string => entryKey('versions', iri, paddedPosition(ended));
export const dataKey = (iri: string, ended: number, piece: number): string =>
  entryKey('versions-data', iri, paddedPosition(ended), String(piece).padStart(5, '0'));
export const dataRange = (iri: string, ended: number): KeyRange =>
  entryRange('versions-data', iri, paddedPosition(ended));
/** Names that a transaction changed, in order of the positions. */
export const changedKey = (position: number, piece: number): string =>
  entryKey('versions-at', paddedPosition(position), String(piece).padStart(5, '0'));
export const allChanged = entryRange('versions-at');
export const allVersions = entryRange('versions');
export const allHeads = entryRange('versions-heads');
/** Position of the last change of the access control list of a resource. Without a name: of the settings (`Permissions`). */
export const accessKey = (iri: string): string => entryKey('versions-access', iri);
export const accessSpace = 'versions-access';

/** Versions that ended after a position, up to another one. */
export const versionsBetween = (iri: string, after: number, upTo = Number.MAX_SAFE_INTEGER): KeyRange => ({
  gte: versionKey(iri, after + 1),
  lt: versionKey(iri, upTo + 1),
});

const kept = ['versions', 'versions-data', 'versions-heads', 'versions-at', 'versions-access'].map((space) =>
  entryKey(space, ''),
);
// Keys in them cannot be rewritten, and their names would cite another storage. Their blobs are released at the next start.
declareDerivedEntries((key) => kept.some((prefix) => key.startsWith(prefix)));

export const readVersion = (key: string, value: string): EndedState => {
  const [, iri, ended] = partsOfEntry(key) as [string, string, string];
  const { record, ...rest } = JSON.parse(value) as Omit<EndedState, 'ended'>;
  return Object.assign(rest, { ended: Number(ended), record: Object.assign(record, { iri }) });
};

export const writeVersion = ({ ended: _, record, ...rest }: EndedState): string =>
  JSON.stringify(Object.assign(rest, { record: Object.assign({}, record, { iri: undefined }) }));

export const headIn = (value: string | undefined): Head | undefined =>
  value === undefined ? undefined : (JSON.parse(value) as Head);

/** Returns the entries with triples of a version. @param graph all keys, or the difference that leads back to them */
export function dataEntries(
  iri: string,
  ended: number,
  graph: GraphKeys | KeyDifference,
): (readonly [key: string, value: string])[] {
  const text =
    'added' in graph
      ? `${packed(graph.added)}${packed(graph.removed)}`
      : (ahead.get(graph as readonly string[]) ?? packed(graph as readonly string[]));
  const entries: (readonly [string, string])[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + pieceCharacters);
    // A surrogate pair is not split.
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    entries.push([dataKey(iri, ended, entries.length), text.slice(at, end)]);
    at = end;
  }
  return entries;
}

const ahead = new WeakMap<readonly string[], string>();

/** Packs the keys of a graph for `dataEntries`. */
export function packAhead(keys: readonly string[]): void {
  if (!ahead.has(keys)) ahead.set(keys, packed(keys));
}

/** Lengths, the number of characters, and the characters. */
function packed(keys: readonly string[]): string {
  const { lengths, text } = packChunk(keys);
  const characters = Buffer.from(text).toString();
  return `${lengths.join(' ')};${characters.length};${characters}`;
}

/** Returns the lists that `dataEntries` packed: all keys, or added and removed ones. */
export function unpacked(text: string): readonly (readonly string[])[] {
  const lists: (readonly string[])[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf(';', at);
    const from = text.indexOf(';', end + 1) + 1;
    const to = from + Number(text.slice(end + 1, from - 1));
    const lengths = Uint32Array.from(end === at ? [] : text.slice(at, end).split(' '), Number);
    lists.push([...packedOf([{ lengths, text: new TextEncoder().encode(text.slice(from, to)) }]).blocks()].flat());
    at = to;
  }
  return lists;
}

/** Position of a state whose beginning was not recorded: the date of the resource. */
export const positionOf = (ms: number): number => ms * positionsPerMs;
/** Time of a position, in milliseconds since the epoch. */
export const msOfPosition = (position: number): number => Math.floor(position / positionsPerMs);
