/** Serializes the events of a batch for the change log: compact JSON arrays, because each write adds an entry. */

import { type ResourceKind, rangeOf } from '../keys/records.js';
import type { Announcement, EventStamp, StagedChange } from './changes.js';

const space = 'L\u0000';
/** Count of digits to which positions are padded, so that keys sort like numbers. */
const digits = 16;

/** Returns the key of an entry. @param position position of its last event */
export const changeKey = (position: number): string => space + String(position).padStart(digits, '0');
export const positionOfKey = (key: string): number => Number(key.slice(space.length));
export const allChanges = () => rangeOf(space);

/** Stored facts about a changed resource. */
export interface ChangedResource {
  readonly iri: string;
  readonly kind: ResourceKind;
  readonly types?: readonly string[];
  readonly owner?: string;
}

/** A committed event. */
export interface LoggedEvent {
  readonly position: number;
  /** Authenticated subject of the request. */
  readonly actor: string | undefined;
  readonly what: LoggedChange | (Omit<Announcement, 'inboxes'> & EventStamp);
}

/** Change of a resource: a `ResourceChange` with fewer facts of each record. */
export interface LoggedChange extends EventStamp {
  readonly before?: ChangedResource;
  readonly after?: ChangedResource;
  readonly readers?: string | undefined;
}

/** Positions of the change log per millisecond, because positions follow the clock. */
export const positionsPerMs = 64;

const verbs = ['create', 'update', 'delete', 'announce'] as const;
const kinds: readonly ResourceKind[] = ['container', 'rdf', 'json', 'binary'];
/** Absent values at the end of a row are omitted; before others they are 0. */
type Row = readonly [
  /** Position of the entry minus that of the event. */
  offset: number,
  /** Four times the index in `verbs`, plus the index in `kinds`. */
  code: number,
  /** IRI relative to the storage. Any other IRI is stored after a space. */
  iri: string,
  event: string,
  /** Position of the event minus the first position of its millisecond. */
  late: number,
  types?: readonly string[] | 0,
  actor?: string | 0,
  owner?: string | 0,
  readers?: string | 0,
];

/** An event to be stored. */
export interface NewEvent {
  readonly position: number;
  readonly actor: string | undefined;
  readonly what: StagedChange | (Announcement & EventStamp);
}

export interface EntryOptions {
  /** Root IRI of the storage. */
  readonly storage: string;
  /** Last position of the previous entry: there are no events in between. */
  readonly previous: number;
  /** Total length of all earlier entries, including removed entries, in characters. */
  readonly written: number;
}

const stampPrefix = 'urn:uuid:';

/** Returns a row as text. Assembled without JSON.stringify, because each write creates a row. */
function rowOf({ position, actor, what }: NewEvent, end: number, storage: string): string {
  const isAnnouncement = 'inboxes' in what;
  const { iri, kind, types, owner }: ChangedResource = isAnnouncement
    ? { iri: what.id, kind: 'json', types: what.types }
    : (what.after ?? what.before)!;
  const verb = isAnnouncement ? 3 : what.before ? (what.after ? 1 : 2) : 0;
  const name = JSON.stringify(iri.startsWith(storage) ? iri.slice(storage.length) : ` ${iri}`);
  const event = what.event.slice(stampPrefix.length);
  const late = position - what.at * positionsPerMs;
  let row = `[${end - position},${verb * 4 + kinds.indexOf(kind)},${name},"${event}",${late}`;
  const more = [types, actor, owner, isAnnouncement ? undefined : what.readers];
  while (more.length > 0 && more.at(-1) === undefined) more.pop();
  for (const each of more) row += `,${JSON.stringify(each ?? 0)}`;
  return `${row}]`;
}

/** Creates an entry of events in order. Its key contains the position of the last event. */
export function writeEntry(events: readonly NewEvent[], { written, previous, storage }: EntryOptions): string {
  const end = events.at(-1)!.position;
  return `[${written},${previous},[${events.map((event) => rowOf(event, end, storage)).join()}]]`;
}

/** Reads `written` of an entry without parsing the rest. */
export const writtenBefore = (value: string): number => Number.parseInt(value.slice(1), 10);

export interface LogEntry {
  readonly previous: number;
  readonly events: readonly LoggedEvent[];
}

/** Parses an entry. @param storage IRI of the storage @throws Error for an invalid entry */
export function readEntry([key, value]: readonly [key: string, value: string], storage: string): LogEntry {
  const [, previous, rows] = JSON.parse(value) as [number, number, Row[]];
  const end = positionOfKey(key);
  const events = rows.map((row) => {
    const position = end - row[0];
    return { position, actor: row[6] || undefined, what: whatOf(row, position, storage) };
  });
  if (!(previous < events[0]!.position)) throw new Error('The entry begins before its predecessor ends.');
  return { previous, events };
}

function whatOf(row: Row, position: number, storage: string): LoggedEvent['what'] {
  const [, code, name, event, late, types = 0, , owner = 0, readers = 0] = row;
  const [verb, kind] = [code >> 2, kinds[code & 3]!];
  const iri = name.startsWith(' ') ? name.slice(1) : storage + name;
  const stamp = { event: stampPrefix + event, at: (position - late) / positionsPerMs };
  const resource = { iri, kind, ...(types === 0 ? {} : { types }), ...(owner === 0 ? {} : { owner }) };
  const left = readers === 0 ? {} : { readers };
  switch (verbs[verb]) {
    case 'create':
      return { after: resource, ...stamp, ...left };
    case 'update':
      return { before: resource, after: resource, ...stamp, ...left };
    case 'delete':
      return { before: resource, ...stamp, ...left };
    case 'announce':
      return { id: iri, types: types === 0 ? [] : types, ...stamp };
    default:
      throw new Error('The entry contains an unknown event.');
  }
}
