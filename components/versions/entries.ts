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

/** A state of a data resource that was replaced or deleted. Positions refer to the change log. */
export interface EndedState {
  /** Position of the transaction that began the state. It identifies the version. */
  readonly began: number;
  /** Position of the transaction that ended the state. */
  readonly ended: number;
  /** Position since which the resource is known to have had its name, if its content is older. */
  readonly named?: number | undefined;
  readonly record: ResourceRecord;
  /** Subject of the request that began the state. */
  readonly actor?: string | undefined;
  /** Revision of the state that followed; absent after a deletion. */
  readonly next?: string | undefined;
  /** Stored triples: all keys, or the difference to the state that followed. Absent for a blob, or a damaged graph. */
  readonly graph?: 'whole' | 'delta' | undefined;
  /** Count of entries with the triples (pieces). */
  readonly pieces?: number | undefined;
  /** A small difference as packed lists (`shortList`), stored in the record instead of pieces. */
  readonly short?: string | undefined;
  /** Client-managed links at the end of the state. Absent: equal to the links of the next state, if their date is the same. */
  readonly links?: string | undefined;
  /** True while the triples of the deleted graph are moved to this version. Other triples still have the keys of the graph. */
  readonly isOpen?: true | undefined;
}

/** A state of a resource: a version, or the present state, without an end. */
export type HistoryState = Omit<EndedState, 'ended'> & { readonly ended?: number };

/** The present state of a resource with a history. */
export interface Head {
  readonly revision: string;
  readonly began: number;
  /** Beginning of the oldest version: the creation of the resource, or the first state that was kept. */
  readonly first: number;
  readonly actor?: string | undefined;
  /** Count of differences since the last version with all triples (`deltas`), and of triples in them (`changed`). */
  readonly deltas: number;
  readonly changed?: number;
}

/** Text of the client-managed links of a resource that has none. */
export const noLinks = '{}';

/** Maximum length of a piece, in characters. */
const pieceCharacters = 1 << 20;

/** Count of keys that are packed together, and maximum counts of keys and characters of a small difference. */
const [keysAtATime, shortKeys, shortCharacters] = [1_000, 10, 2_000];

/** Last position and its text, cached because transactions use the same position several times. */
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
/** Returns the key of the version for the triples of a dropped graph. Value: end of the version, and count of pieces so far. */
export const openKey = (iri: string): string => entryKey('versions-open', iri);
/** Returns the key of the names changed at a position. Names of created resources follow a plus sign in the value. */
export const changedKey = (position: number, piece: number): string =>
  entryKey('versions-at', paddedPosition(position), String(piece).padStart(5, '0'));
export const allChanged = entryRange('versions-at');
/** Returns the key range of the names of resources that were changed by transactions after a position. */
export const changedAfter = (position: number): KeyRange => ({ gte: changedKey(position + 1, 0), lt: allChanged.lt });
export const createdMark = '+';
/** Returns the key of the position since which versions of a resource and those below it are kept. Empty IRI: all resources. */
export const sinceKey = (iri: string): string => entryKey('versions-since', iri);
export const allSince = entryRange('versions-since');
/** Key of the position up to which versions have expired, so that earlier states of the storage are incomplete. */
export const horizonKey = entryKey('versions-horizon', '');
export const allHeads = entryRange('versions-heads');
/** Returns the key of the positions of an ACL (`access-dates`). Empty IRI: of the settings (`permissions`). */
export const accessKey = (iri: string): string => entryKey('versions-access', iri);
export const accessSpace = 'versions-access';

/** Returns the range of the versions that ended after a position, and not after another position. */
export const versionsBetween = (iri: string, after: number, upTo = Number.MAX_SAFE_INTEGER): KeyRange => ({
  gte: versionKey(iri, after + 1),
  lt: versionKey(iri, upTo + 1),
});

const keptSpaces = [
  ...['versions', 'versions-data', 'versions-heads', 'versions-at'],
  ...['versions-access', 'versions-open', 'versions-since', 'versions-horizon'],
];
const kept = keptSpaces.map((space) => entryKey(space, ''));
// A restore to another base URI omits versions: their keys cannot be rewritten, and citations would name another storage. The
// next start releases their blobs.
declareDerivedEntries((key) => kept.some((prefix) => key.startsWith(prefix)));

export const readVersion = (key: string, value: string): EndedState => {
  const [, iri, ended] = partsOfEntry(key) as [string, string, string];
  const end = value.indexOf('\n');
  const { record, ...rest } = JSON.parse(end < 0 ? value : value.slice(0, end)) as Omit<EndedState, 'ended'>;
  if (end >= 0) Object.assign(rest, { short: value.slice(end + 1) });
  return Object.assign(rest, { ended: Number(ended), record: Object.assign(record, { iri }) });
};

/** Serializes a version as one line of JSON. A line with a small difference may follow. */
export function writeVersion(version: EndedState): string {
  const { began, named, actor, next, graph, pieces, links, isOpen, record, short } = version;
  const text = JSON.stringify({ began, named, actor, next, graph, pieces, links, isOpen }).slice(0, -1);
  return `${text},"record":${writeRecord(record)}}${short === undefined ? '' : `\n${short}`}`;
}

export const headIn = (value: string | undefined): Head | undefined =>
  value === undefined ? undefined : (JSON.parse(value) as Head);

/** Triples of a state: all keys, possibly in blocks, or the difference from the state that followed. */
export type KeptTriples = readonly string[] | AsyncIterable<readonly string[]> | KeyDifference;

/** Yields the triples of a version as pieces of at most 1 MiB. Yields to the event loop, so that other requests do not wait. */
export async function* packedPieces(graph: KeptTriples): AsyncGenerator<string> {
  let text = '';
  for await (const list of packedLists(graph)) {
    text += list;
    while (text.length > pieceCharacters) {
      // Do not split a surrogate pair.
      const end = pieceCharacters - ((text.charCodeAt(pieceCharacters - 1) & 0xfc00) === 0xd800 ? 1 : 0);
      yield text.slice(0, end);
      text = text.slice(end);
    }
  }
  if (text.length > 0) yield text;
}

/** Returns a small difference as text; `undefined` for other triples. Most differences are small. */
export function shortList(graph: KeptTriples): string | undefined {
  if (!('added' in graph) || graph.added.length + graph.removed.length > shortKeys) return undefined;
  const list = packed(graph.added) + packed(graph.removed);
  return list.length <= shortCharacters ? list : undefined;
}

/** Yields packed lists: of all keys, or alternately of added and removed keys. */
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

/** Packs the keys of a graph before they are needed, and caches the result for `packedPieces`. */
export function packAhead(keys: readonly string[]): void {
  if (!ahead.has(keys)) ahead.set(keys, packed(keys));
}

/** Returns keys as text: lengths, count of characters, and characters. */
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
    // A list of long keys has many pieces: join them once.
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

/** Returns the position for a time in milliseconds, such as the date of a state whose beginning was not recorded. */
export const positionOf = (ms: number): number => ms * positionsPerMs;
/** Returns the time of a position, in milliseconds since the epoch. */
export const msOfPosition = (position: number): number => Math.floor(position / positionsPerMs);
