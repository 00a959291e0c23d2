/** What a transaction tells the listeners of the store. */
import { randomUUID } from 'node:crypto';
import type { ResourceRecord } from '../keys/records.js';

/** An event that the storage itself sends to named inboxes, besides the subscribers. */
export interface Announcement {
  /** The IRI of the document that was created. */
  readonly id: string;
  readonly types: readonly string[];
  readonly inboxes: readonly string[];
}

/**
 * What happened to one resource. When a container's membership changes, only the member has a change.
 */
export interface ResourceChange {
  /** Absent: it was created. */
  readonly before?: ResourceRecord;
  /** Absent: it was deleted. */
  readonly after?: ResourceRecord;
}

/** Id and time of an event: the same for every receiver, whichever server sends it. */
export interface EventStamp {
  /** Its id, a `urn:uuid:`. */
  readonly event: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A change with its stamp, as listeners get it. */
export interface StagedChange extends ResourceChange, EventStamp {
  /** Who may read the resource, as authorization wrote it down: it is asked again when the resource is gone (`Question.gone`). */
  readers?: string | undefined;
}

export const stamped = <T extends object>(what: T): T & EventStamp => ({
  ...what,
  event: `urn:uuid:${randomUUID()}`,
  at: Date.now(),
});
