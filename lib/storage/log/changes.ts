/** What a transaction tells those who listen. */
import { randomUUID } from 'node:crypto';
import type { ResourceRecord } from '../state/records.js';

/** Something that the storage itself tells named inboxes of, beside what it tells subscribers. */
export interface Announcement {
  /** The IRI of the document that was created. */
  readonly id: string;
  readonly types: readonly string[];
  readonly inboxes: readonly string[];
}

/**
 * What happened to one resource, for those who listen. A container whose membership changed is no change of its own.
 */
export interface ResourceChange {
  /** Absent: it was created. */
  readonly before?: ResourceRecord;
  /** Absent: it was deleted. */
  readonly after?: ResourceRecord;
}

/** By which an event is one and the same for everybody who is told of it, whichever server tells it. */
export interface EventStamp {
  /** Its id, a `urn:uuid:`. */
  readonly event: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A change as it is told. */
export interface StagedChange extends ResourceChange, EventStamp {
  /** Who may read the resource, as authorization wrote it down: it is asked again when the resource is gone (`Question.gone`). */
  readers?: string | undefined;
}

export const stamped = <T extends object>(what: T): T & EventStamp => ({
  ...what,
  event: `urn:uuid:${randomUUID()}`,
  at: Date.now(),
});
