/** The events of a batch as the log of changes keeps them: JSON of arrays, which is short, since each write adds an entry. Pure. */

import { type ResourceKind, rangeOf } from '../keys/records.js';
import type { Announcement, EventStamp, StagedChange } from './changes.js';

const space = 'L\u0000';
/** Positions are padded to so many digits, so that keys have the order of the numbers. */
const digits = 16;

/** The key of an entry. @param position the position of its last event */
export const changeKey = (position: number): string => space + String(position).padStart(digits, '0');
export const positionOfKey = (key: string): number => Number(key.slice(space.length));
export const allChanges = () => rangeOf(space);

/** What is kept of a resource that changed. */
export interface ChangedResource {
  readonly iri: string;
  readonly kind: ResourceKind;
  readonly types?: readonly string[];
  readonly owner?: string;
}

/** One event that was committed. */
export interface LoggedEvent {
  readonly position: number;
  /** The subject whose request it was. */
  readonly actor: string | undefined;
  readonly what: LoggedChange | (Omit<Announcement, 'inboxes'> & EventStamp);
}

/** What happened to a resource: a `ResourceChange` with less of each record. */
export interface LoggedChange extends EventStamp {
  readonly before?: ChangedResource;
  readonly after?: ChangedResource;
  readonly readers?: string | undefined;
}

/** Positions follow the clock: so many are available in each millisecond. */
export const positionsPerMs = 64;

const verbs = ['create', 'update', 'delete', 'announce'] as const;
const kinds: readonly ResourceKind[] = ['container', 'rdf', 'json', 'binary'];
/** Values that are absent at the end of a row are left out; before others, 0 stands for an absent one. */
type Row = readonly [
  /** The position of the entry minus that of the event. */
  offset: number,
  /** Four times the index in `verbs`, plus the index in `kinds`. */
  code: number,
  /** Relative to the storage's IRI; another IRI comes after a space. */
  iri: string,
  event: string,
  /** Its position minus the first one of its millisecond. */
  late: number,
  types?: readonly string[] | 0,
  actor?: string | 0,
  owner?: string | 0,
  readers?: string | 0,
];

/** An event that is to be kept. */
export interface NewEvent {
  readonly position: number;
  readonly actor: string | undefined;
  readonly what: StagedChange | (Announcement & EventStamp);
}

export interface EntryOptions {
  /** The storage's IRI. */
  readonly storage: string;
  /** The last position of the entry before it: no other events lie between. */
  readonly previous: number;
  /** Characters of all earlier entries, also removed ones. */
  readonly written: number;
}

const stampPrefix = 'urn:uuid:';

/** The text of a row, put together by hand: each write makes one. */
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

/** An entry of some events in their order, whose key is that of the last one's position. */
export function writeEntry(events: readonly NewEvent[], { written, previous, storage }: EntryOptions): string {
  const end = events.at(-1)!.position;
  return `[${written},${previous},[${events.map((event) => rowOf(event, end, storage)).join()}]]`;
}

/** The `written` of an entry, without parsing the rest. */
export const writtenBefore = (value: string): number => Number.parseInt(value.slice(1), 10);

export interface LogEntry {
  readonly previous: number;
  readonly events: readonly LoggedEvent[];
}

/** @param storage its IRI @throws Error for what is no entry */
export function readEntry([key, value]: readonly [key: string, value: string], storage: string): LogEntry {
  const [, previous, rows] = JSON.parse(value) as [number, number, Row[]];
  const end = positionOfKey(key);
  const events = rows.map((row) => {
    const position = end - row[0];
    return { position, actor: row[6] || undefined, what: whatOf(row, position, storage) };
  });
  if (!(previous < events[0]!.position)) throw new Error('The entry begins before it does.');
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
      throw new Error('The entry has an event that nobody knows.');
  }
}
