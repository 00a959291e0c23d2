/** Event stream for controllers of the storage (rule 16.11): past events after a position, followed by live events. */

import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { controls } from '../../lib/authorization/guard.js';
import { freshAccess } from '../../lib/authorization/principal.js';
import type { Platform } from '../../lib/component/contract.js';
import type { Reply } from '../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { positionBefore } from '../../lib/storage/transactions/change-log.js';
import { LwsError } from '../../lib/tools/errors.js';
import { parseDateTime } from '../../lib/tools/fields/date.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import type { Activity } from './delivery/events.js';
import { PastEvents } from './delivery/past-events.js';
import type { Follower } from './delivery/readers.js';

export interface EventsEndpoint {
  readonly platform: Platform;
  /** Connected readers of the stream. */
  readonly followers: Set<Follower>;
  /** True to include the identity that made each change. */
  readonly includeActor: boolean;
}

/** Maximum unread bytes of a client. Above it, the stream is closed. */
const maxBehind = 1 << 20;

export const eventsRoute = (endpoint: EventsEndpoint): Route =>
  route('controller', 'GET {prefix}/events', (request) => follow(endpoint, request));

const line = (activity: Activity, position: number): string => `${JSON.stringify({ position, ...activity })}\n`;

/** Streams committed events that the caller can read, as JSON lines, as long as the caller controls the storage. */
async function follow({ followers, platform, includeActor }: EventsEndpoint, request: RouteRequest): Promise<Reply> {
  const { access, query } = request;
  const { changes } = platform.store;
  const { since: earliest, newest, goesOn } = wishOf(query);
  const since = newest === undefined ? earliest : Math.max(earliest!, await changes.positionBeforeNewest(newest));
  if (since !== undefined) await changes.next(since);
  const body = new PassThrough({ highWaterMark: maxBehind });
  const isOpen = (): boolean => !body.destroyed && !body.writableEnded;
  // Decides with a new object: decisions are cached on the object of the request.
  const mayGoOn = async (): Promise<boolean> =>
    isOpen() && (await controls(platform, platform.store, freshAccess(access)));
  const options = { platform, access, includeActor, covers: () => true, announcements: true };
  let past: PastEvents | undefined;
  let last = Promise.resolve();
  const follower: Follower = {
    access,
    who: randomUUID(),
    tell(activity, position) {
      if (!past?.leaves(position)) return;
      // Process events one after the other, because each checks permissions.
      last = last
        .then(async () => {
          if (!(await mayGoOn())) body.end();
          else if (activity && isOpen() && !body.write(line(activity, position))) body.destroy();
        })
        // If the check fails with an error, end the stream. Otherwise it would stay open without events.
        .catch((error: Error) => void body.destroy(error));
    },
    end: () => void body.end(),
  };
  body.once('close', () => followers.delete(follower));
  // From the next transaction on, events are authorized for this reader too.
  const now = await platform.store.transact(
    () => {
      if (goesOn) followers.add(follower);
      return changes.mark();
    },
    { frees: true },
  );
  past = new PastEvents(options, since, Math.max(now, changes.committed));
  // Send a byte, because proxies and clients report the stream as open only after the first byte.
  body.write('\n');
  if (since !== undefined) void tellPast(past, body, mayGoOn, goesOn);
  return {
    status: 200,
    fields: {
      'Content-Type': 'application/x-ndjson',
      'Cache-Control': 'private, no-store',
      Link: formatLink(platform.rootIri, lws.storage),
    },
    body,
  };
}

async function tellPast(
  past: PastEvents,
  body: PassThrough,
  mayGoOn: () => Promise<boolean>,
  goesOn: boolean,
): Promise<void> {
  try {
    await past.tellAll(
      (activity, position) => new Promise((done) => body.write(line(activity, position), () => done())),
      mayGoOn,
    );
    if (!goesOn || !past.isOver) body.end();
  } catch (error) {
    body.destroy(error as Error);
  }
}

interface Wish {
  /** Position after which events are sent. Absent: events from now on. */
  readonly since: number | undefined;
  /** Maximum past events to send. */
  readonly newest: number | undefined;
  /** True to continue with live events after the past events. */
  readonly goesOn: boolean;
}

/** Parses the query parameters. @throws LwsError `bad-request` */
function wishOf(query: URLSearchParams): Wish {
  const [since, newest, follow = 'true'] = ['since', 'newest', 'follow'].map((name) => query.get(name) ?? undefined);
  if (follow !== 'true' && follow !== 'false')
    throw new LwsError('bad-request', 'The parameter follow must be true or false.');
  if (newest !== undefined && (since === undefined || !/^[1-9]\d{0,3}$/.test(newest)))
    throw new LwsError('bad-request', 'The parameter newest must be a number from 1 to 9999, together with since.');
  if (since === undefined) {
    if (follow === 'true') return { since, newest: undefined, goesOn: true };
    throw new LwsError('bad-request', 'With follow=false, the parameter since is required.');
  }
  const position = /^\d{1,15}$/.test(since) ? Number(since) : positionBefore(parseDateTime(since));
  if (!Number.isSafeInteger(position))
    throw new LwsError(
      'bad-request',
      'The parameter since must be the position of an event, or a time such as 2026-01-31T12:00:00Z.',
    );
  return { since: position, newest: newest === undefined ? undefined : Number(newest), goesOn: follow === 'true' };
}
