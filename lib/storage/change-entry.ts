/**
 * The events of a transaction as the log of changes keeps them: JSON of arrays, since each write adds one. Pure; it must not know where
 * they are kept.
 */
import type { Announcement, EventStamp, StagedChange } from './changes.js';
import { type ResourceKind, rangeOf } from './records.js';

const space = 'L\u0000';
/** Positions lie in the order of their numbers. */
const digits = 16;

/** The key of an entry. @param position of its last event */
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

/** What happened to a resource: as a `ResourceChange`, of less. */
export interface LoggedChange extends EventStamp {
  readonly before?: ChangedResource;
  readonly after?: ChangedResource;
  readonly readers?: string | undefined;
}

const verbs = ['create', 'update', 'delete', 'announce'] as const;
type Row = readonly [
  verb: number,
  iri: string,
  kind: ResourceKind,
  types: readonly string[] | 0,
  event: string,
  at: number,
  owner: string | 0,
  readers: string | 0,
];

interface Entry {
  /** The position that the entry before it ended with: what lies between is all. */
  readonly previous: number;
  /** Characters of all entries that were ever written, this one left out. */
  readonly written: number;
  readonly actor: string | undefined;
  readonly rows: readonly Row[];
}

const stampPrefix = 'urn:uuid:';

export function rowOf(what: StagedChange | (Announcement & EventStamp)): Row {
  const event = what.event.slice(stampPrefix.length);
  if ('inboxes' in what) return [3, what.id, 'json', what.types, event, what.at, 0, 0];
  const { before, after, at, readers = 0 } = what;
  const { iri, kind, types = 0, owner = 0 } = (after ?? before)!;
  return [before ? (after ? 1 : 2) : 0, iri, kind, types, event, at, owner, readers];
}

export const writeEntry = ({ previous, written, actor, rows }: Entry): string =>
  JSON.stringify([written, previous, actor ?? 0, rows]);

/** The number that an entry begins with, without reading the rest. */
export const writtenBefore = (value: string): number => Number.parseInt(value.slice(1), 10);

/** @throws Error for what is no entry */
export function readEntry(key: string, value: string): { readonly previous: number; readonly events: LoggedEvent[] } {
  const [, previous, actor, rows] = JSON.parse(value) as [number, number, string | 0, Row[]];
  const first = positionOfKey(key) - rows.length + 1;
  if (!(previous < first)) throw new Error('The positions of the entry lie before the one before it.');
  const events = rows.map((row, index) => ({
    position: first + index,
    actor: actor === 0 ? undefined : actor,
    what: whatOf(row),
  }));
  return { previous, events };
}

function whatOf([verb, iri, kind, types, event, at, owner, readers]: Row): LoggedEvent['what'] {
  const stamp = { event: stampPrefix + event, at };
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
