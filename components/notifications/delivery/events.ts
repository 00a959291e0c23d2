/** Converts events to notifications (rule 16.5; Activity Streams 2.0). The result is the same for all recipients. */

import { lwsContext } from '../../../lib/rdf/contexts.js';
import { parentOf } from '../../../lib/storage/keys/records.js';
import type { ChangedResource, LoggedChange } from '../../../lib/storage/log/change-entry.js';
import type { Announcement, EventStamp } from '../../../lib/storage/log/changes.js';

export interface Activity {
  readonly id: string;
  readonly type: readonly ['Create' | 'Update' | 'Delete'];
  readonly object: { readonly id: string; readonly type: readonly string[] };
  /** Container of a created resource. */
  readonly target?: string;
  /** Former container of a deleted resource. */
  readonly origin?: string;
  readonly published: string;
  readonly actor?: string;
}

export interface EventContext {
  readonly storage: string;
  /** Identity that made the change. Undefined if it is unknown or not to be included. */
  readonly actor: string | undefined;
}

/** Returns the activity of a change. */
export function activityOf({ before, after, event, at }: LoggedChange, { storage, actor }: EventContext): Activity {
  const { iri, kind, types = [] }: ChangedResource = (after ?? before)!;
  const type = before ? (after ? 'Update' : 'Delete') : 'Create';
  const parent = iri === storage ? undefined : parentOf(iri);
  return {
    id: event,
    type: [type],
    object: { id: iri, type: [kind === 'container' ? 'Container' : 'DataResource', ...types] },
    ...(parent !== undefined && type === 'Create' ? { target: parent } : {}),
    ...(parent !== undefined && type === 'Delete' ? { origin: parent } : {}),
    published: new Date(at).toISOString(),
    ...(actor === undefined ? {} : { actor }),
  };
}

/** Returns the activity of a document that the server itself publishes, such as an access request. */
export const announcementOf = (
  { id, types, event, at }: Omit<Announcement, 'inboxes'> & EventStamp,
  { actor }: EventContext,
): Activity => ({
  id: event,
  type: ['Create'],
  object: { id, type: types },
  published: new Date(at).toISOString(),
  ...(actor === undefined ? {} : { actor }),
});

/** Returns the body of a delivery: the activity in a notification. */
export const notificationOf = (activity: Activity, storage: string): object => ({
  '@context': [lwsContext, 'https://www.w3.org/ns/activitystreams'],
  type: 'Notification',
  storage,
  activity,
});
