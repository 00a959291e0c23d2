/** What happened, as it is told (rule 16.5; Activity Streams 2.0). Pure; it must not know who is told. */
import { randomUUID } from 'node:crypto';
import { lwsContext } from '../../lib/rdf/contexts.js';
import type { ResourceChange } from '../../lib/storage/changes.js';
import { parentOf, type ResourceRecord } from '../../lib/storage/records.js';

export type ActivityType = 'Create' | 'Update' | 'Delete';

export interface Activity {
  readonly id: string;
  readonly type: readonly [ActivityType];
  readonly object: { readonly id: string; readonly type: readonly string[] };
  /** The container that a created resource went into. */
  readonly target?: string;
  /** The container that a deleted resource was in. */
  readonly origin?: string;
  readonly published: string;
  readonly actor?: string;
}

export interface EventContext {
  readonly storage: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Who did it, when that is told at all. */
  readonly actor: string | undefined;
}

const typesOf = ({ kind, types = [] }: ResourceRecord): readonly string[] => [
  kind === 'container' ? 'Container' : 'DataResource',
  ...types,
];

/** The activity of one change. */
export function activityOf({ before, after }: ResourceChange, { storage, now, actor }: EventContext): Activity {
  const record = (after ?? before)!;
  const { iri } = record;
  const type = before ? (after ? 'Update' : 'Delete') : 'Create';
  const parent = iri === storage ? undefined : parentOf(iri);
  return {
    id: `urn:uuid:${randomUUID()}`,
    type: [type],
    object: { id: iri, type: typesOf(record) },
    ...(parent !== undefined && type === 'Create' ? { target: parent } : {}),
    ...(parent !== undefined && type === 'Delete' ? { origin: parent } : {}),
    published: new Date(now).toISOString(),
    ...(actor === undefined ? {} : { actor }),
  };
}

/** The activity of a document of the server itself, such as an access request. */
export const announcementOf = (id: string, types: readonly string[], { now, actor }: EventContext): Activity => ({
  id: `urn:uuid:${randomUUID()}`,
  type: ['Create'],
  object: { id, type: types },
  published: new Date(now).toISOString(),
  ...(actor === undefined ? {} : { actor }),
});

/** The body of a delivery. */
export const notificationOf = (activity: Activity, storage: string): object => ({
  '@context': [lwsContext, 'https://www.w3.org/ns/activitystreams'],
  type: 'Notification',
  storage,
  activity,
});
