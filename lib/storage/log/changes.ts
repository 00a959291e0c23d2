/** Changes and events that a transaction reports to the listeners of the store. */
import { randomUUID } from 'node:crypto';
import type { ResourceRecord } from '../keys/records.js';

/** An event that the storage sends to named inboxes in addition to subscribers. */
export interface Announcement {
  /** IRI of the document that the event announces, such as an access request. */
  readonly id: string;
  readonly types: readonly string[];
  readonly inboxes: readonly string[];
}

/** Change of one resource. If a container's membership changes, only the member has a change. */
export interface ResourceChange {
  /** Record before the change. Absent if the resource was created. */
  readonly before?: ResourceRecord;
  /** Record after the change. Absent if the resource was deleted. */
  readonly after?: ResourceRecord;
}

/** Id and time of an event, which are the same for every receiver and on every server. */
export interface EventStamp {
  /** Id of the event: a `urn:uuid:`. */
  readonly event: string;
  /** Time of the event, in milliseconds since the epoch. */
  readonly at: number;
}

/** A change with its stamp, as passed to listeners. */
export interface StagedChange extends ResourceChange, EventStamp {
  /** Readers of the resource as recorded by authorization, used after its deletion (`Question.gone`). */
  readers?: string | undefined;
}

export const stamped = <T extends object>(what: T): T & EventStamp => ({
  event: `urn:uuid:${randomUUID()}`,
  at: Date.now(),
  ...what,
});
