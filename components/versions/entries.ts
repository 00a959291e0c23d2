/** Entries with the earlier states of resources. */

import { declareDerivedEntries } from '../../lib/storage/keys/derived-entries.js';
import type { KeyDifference } from '../../lib/storage/keys/graph-changes.js';
import { packText, unpackText } from '../../lib/storage/keys/graph-keys.js';
import {
  entryKey,
  entryRange,
  type KeyRange,
  partsOfEntry,
  type ResourceRecord,
  writeRecord,
} from '../../lib/storage/keys/records.js';
import { positionsPerMs } from '../../lib/storage/log/change-entry.js';
import { yieldToEventLoop } from '../../lib/tools/event-loop.js';

/** A state of a data resource that was replaced or deleted. Positions are those of the change log. */
export interface EndedState {
  /** Position of the transaction that began the state. It identifies the version. */
  readonly began: number;
  /** Position of the transaction that ended it. */
  readonly ended: number;
  /** Position since when the resource is known to have had its name, if its content is older. */
  readonly named?: number | undefined;
  readonly record: ResourceRecord;
  /** Subject of the request that began it. */
  readonly actor?: string | undefined;
  /** Revision of the state that followed; absent after a deletion. */
  readonly next?: string | undefined;
  /** Triples: all keys, or the difference to the state that followed. Absent for a blob, and for a graph that was damaged. */
  readonly graph?: 'whole' | 'delta' | undefined;
  /** Number of entries with the triples. */
  readonly pieces?: number | undefined;
  /** A small difference, which has no entries of its own: packed lists (`shortList`). */
  readonly short?: string | undefined;
  /** Client-managed links at the end of the state, as text. Absent: those of the state that follows, if its links have the same date. */
  readonly links?: string | undefined;
  /** True while the dropped graph is removed in slices, which become pieces. Its other triples are still at its name. */
  readonly isOpen?: true | undefined;
}

/** A state of a resource: a version, or the present state, without an end. */
export type HistoryState = Omit<EndedState, 'ended'> & { readonly ended?: number };

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

/** Client-managed links of a resource without any, as text. */
export const noLinks = '{}';

/** Maximum characters of a value. */
const pieceCharacters = 1 << 20;

/** Keys that are packed together, and maximum keys and characters of a small difference. */
const [keysAtATime, shortKeys, shortCharacters] = [1_000, 10, 2_000];

/** Transactions use the same position several times. */
let [lastPosition, lastText] = [-1, ''];
export function paddedPosition(position: number): string {
  if (position !== lastPosition) [lastPosition, lastText] = [position, String(position).padStart(16, '0')];
  return lastText;
}

export const headKey = (iri: string): string => entryKey('versions-heads', iri);
export const versionKey = (iri: string, ended: number): string => entryKey('versions', iri, paddedPosition(ended));
export const paddedPiece = (piece: number): string => String(piece).padStart(5, '0');
export const dataKey = (iri: string, ended: number, piece: number): string =>
  entryKey('versions-data', iri, paddedPosition(ended), paddedPiece(piece));
export const dataRange = (iri: string, ended: number): KeyRange =>
  entryRange('versions-data', iri, paddedPosition(ended));
/** The version that a dropped graph belongs to: its end and its number of pieces so far. */
export const openKey = (iri: string): string => entryKey('versions-open', iri);
/** Names that a transaction changed, in order of the positions. Those of resources that it created follow a plus sign. */
export const changedKey = (position: number, piece: number): string =>
  entryKey('versions-at', paddedPosition(position), String(piece).padStart(5, '0'));
export const allChanged = entryRange('versions-at');
/** Names that transactions changed after a position. */
export const changedAfter = (position: number): KeyRange => ({ gte: changedKey(position + 1, 0), lt: allChanged.lt });
export const createdMark = '+';
/** Position since when versions of a resource, or below a container, are kept without interruption. Without a name: of all resources. */
export const sinceKey = (iri: string): string => entryKey('versions-since', iri);
export const allSince = entryRange('versions-since');
/** Position up to which versions were deleted because of their age: earlier states of the storage are incomplete. */
export const horizonKey = entryKey('versions-horizon', '');
export const allHeads = entryRange('versions-heads');
/** Positions of the access control list of a resource (`access-dates`). Without a name: of the settings (`permissions`). */
export const accessKey = (iri: string): string => entryKey('versions-access', iri);
export const accessSpace = 'versions-access';

/** Versions that ended after a position, up to another one. */
export const versionsBetween = (iri: string, after: number, upTo = Number.MAX_SAFE_INTEGER): KeyRange => ({
  gte: versionKey(iri, after + 1),
  lt: versionKey(iri, upTo + 1),
});

const keptSpaces = [
  ...['versions', 'versions-data', 'versions-heads', 'versions-at'],
  ...['versions-access', 'versions-open', 'versions-since', 'versions-horizon'],
];
const kept = keptSpaces.map((space) => entryKey(space, ''));
// Keys in them cannot be rewritten, and their names would cite another storage. Their blobs are released at the next start.
declareDerivedEntries((key) => kept.some((prefix) => key.startsWith(prefix)));

export const readVersion = (key: string, value: string): EndedState => {
  const [, iri, ended] = partsOfEntry(key) as [string, string, string];
  const end = value.indexOf('\n');
  const { record, ...rest } = JSON.parse(end < 0 ? value : value.slice(0, end)) as Omit<EndedState, 'ended'>;
  if (end >= 0) Object.assign(rest, { short: value.slice(end + 1) });
  return Object.assign(rest, { ended: Number(ended), record: Object.assign(record, { iri }) });
};

/** One line of JSON, which may be followed by a small difference. */
export function writeVersion(version: EndedState): string {
  const { began, named, actor, next, graph, pieces, links, isOpen, record, short } = version;
  const text = JSON.stringify({ began, named, actor, next, graph, pieces, links, isOpen }).slice(0, -1);
  return `${text},"record":${writeRecord(record)}}${short === undefined ? '' : `\n${short}`}`;
}

export const headIn = (value: string | undefined): Head | undefined =>
  value === undefined ? undefined : (JSON.parse(value) as Head);

/** Triples of a state: all keys, also in blocks, or the difference that leads back to them. */
export type KeptTriples = readonly string[] | AsyncIterable<readonly string[]> | KeyDifference;

/** Yields values of at most 1 MiB with the triples of a version. Pauses, so that other requests do not wait. */
export async function* packedPieces(graph: KeptTriples): AsyncGenerator<string> {
  let text = '';
  for await (const list of packedLists(graph)) {
    text += list;
    while (text.length > pieceCharacters) {
      // A surrogate pair is not split.
      const end = pieceCharacters - ((text.charCodeAt(pieceCharacters - 1) & 0xfc00) === 0xd800 ? 1 : 0);
      yield text.slice(0, end);
      text = text.slice(end);
    }
  }
  if (text.length > 0) yield text;
}

/** Returns the triples of a small difference, the common case; `undefined` for others. */
export function shortList(graph: KeptTriples): string | undefined {
  if (!('added' in graph) || graph.added.length + graph.removed.length > shortKeys) return undefined;
  const list = packed(graph.added) + packed(graph.removed);
  return list.length <= shortCharacters ? list : undefined;
}

/** Yields all keys as packed lists, or in turn added and removed ones. */
async function* packedLists(graph: KeptTriples): AsyncGenerator<string> {
  if ('added' in graph) {
    const { added, removed } = graph;
    for (let at = 0; at === 0 || at < Math.max(added.length, removed.length); at += keysAtATime) {
      if (at > 0) await yieldToEventLoop();
      yield packed(added.slice(at, at + keysAtATime)) + packed(removed.slice(at, at + keysAtATime));
    }
  } else if (Symbol.asyncIterator in graph) for await (const keys of graph) yield packed(keys);
  else if (ahead.has(graph)) yield ahead.get(graph)!;
  else
    for (let at = 0; at === 0 || at < graph.length; at += keysAtATime) {
      if (at > 0) await yieldToEventLoop();
      yield packed(graph.slice(at, at + keysAtATime));
    }
}

const ahead = new WeakMap<readonly string[], string>();

/** Packs the keys of a graph for `packedPieces`. */
export function packAhead(keys: readonly string[]): void {
  if (!ahead.has(keys)) ahead.set(keys, packed(keys));
}

/** Lengths, the number of characters, and the characters. */
function packed(keys: readonly string[]): string {
  if (keys.length === 0) return ';0;';
  const { lengths, text } = packText(keys);
  return `${lengths.join(' ')};${text.length};${text}`;
}

/** Yields the lists of `packedLists` from pieces. */
export async function* unpacked(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let parts: string[] = [];
  let [length, wanted] = [0, 0];
  for await (const piece of pieces) {
    parts.push(piece);
    length += piece.length;
    // A list with long keys has many pieces, which are joined once.
    if (length < wanted) continue;
    const text = parts.join('');
    let at = 0;
    for (;;) {
      const end = text.indexOf(';', at);
      const from = end < 0 ? 0 : text.indexOf(';', end + 1) + 1;
      const to = from === 0 ? 0 : from + Number(text.slice(end + 1, from - 1));
      wanted = to - at;
      if (from === 0 || to > text.length) break;
      yield end === at ? [] : unpackText(text.slice(at, end).split(' ').map(Number), text.slice(from, to));
      at = to;
    }
    parts = [text.slice(at)];
    length = text.length - at;
  }
}

/** Position of a state whose beginning was not recorded: the date of the resource. */
export const positionOf = (ms: number): number => ms * positionsPerMs;
/** Time of a position, in milliseconds since the epoch. */
export const msOfPosition = (position: number): number => Math.floor(position / positionsPerMs);
