/** The stream of events for those who control the storage (rule 16.11): what was committed after a position, then what is. */
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { controls } from '../../lib/authorization/guard.js';
import type { Platform } from '../../lib/component/contract.js';
import { LwsError } from '../../lib/errors.js';
import { parseDateTime } from '../../lib/fields/date.js';
import { formatLink } from '../../lib/fields/link.js';
import type { Reply } from '../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { positionBefore } from '../../lib/storage/transactions/change-log.js';
import type { Activity } from './delivery/events.js';
import { PastEvents } from './delivery/past-events.js';
import type { Follower } from './delivery/readers.js';

export interface EventsEndpoint {
  readonly platform: Platform;
  /** Those who follow now. */
  readonly followers: Set<Follower>;
  /** Say who did what. */
  readonly includeActor: boolean;
}

/** Bytes that a follower who does not read may be behind, before the stream ends. */
const maxBehind = 1 << 20;

export const eventsRoute = (endpoint: EventsEndpoint): Route =>
  route('controller', 'GET {prefix}/events', (request) => follow(endpoint, request));

const line = (activity: Activity, position: number): string => `${JSON.stringify({ position, ...activity })}\n`;

/** Committed events that the follower may read, one JSON document a line, for as long as it controls the storage. */
async function follow({ followers, platform, includeActor }: EventsEndpoint, request: RouteRequest): Promise<Reply> {
  const { access, query } = request;
  const { changes } = platform.store;
  const { since, goesOn } = wishOf(query);
  if (since !== undefined) await changes.next(since);
  const body = new PassThrough({ highWaterMark: maxBehind });
  const isOpen = (): boolean => !body.destroyed && !body.writableEnded;
  // A new object: decisions are remembered with the one of the request.
  const mayGoOn = async (): Promise<boolean> => isOpen() && (await controls(platform, platform.store, { ...access }));
  const options = { platform, access, includeActor, covers: () => true, announcements: true };
  let past: PastEvents | undefined;
  let last = Promise.resolve();
  const follower: Follower = {
    access,
    who: randomUUID(),
    tell(activity, position) {
      if (!past?.leaves(position)) return;
      // One after another, since each is decided anew.
      last = last
        .then(async () => {
          if (!(await mayGoOn())) body.end();
          else if (activity && isOpen() && !body.write(line(activity, position))) body.destroy();
        })
        // What cannot be decided is not told, and the stream must not fall silent.
        .catch((error: Error) => void body.destroy(error));
    },
    end: () => void body.end(),
  };
  body.once('close', () => followers.delete(follower));
  // Whatever is committed later was decided for this one, too.
  const now = await platform.store.transact(
    () => {
      if (goesOn) followers.add(follower);
      return changes.mark();
    },
    { frees: true },
  );
  past = new PastEvents(options, since, Math.max(now, changes.committed));
  // Proxies and clients show that the stream is open only when something came.
  body.write('\n');
  if (since !== undefined) void tellPast(past, { body, mayGoOn, goesOn });
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

interface Told {
  readonly body: PassThrough;
  readonly mayGoOn: () => Promise<boolean>;
  readonly goesOn: boolean;
}

async function tellPast(past: PastEvents, { body, mayGoOn, goesOn }: Told): Promise<void> {
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

/**
 * @returns `since`: a position, absent: from now on; `goesOn`: it does not end with what has happened
 * @throws LwsError `bad-request`
 */
function wishOf(query: URLSearchParams): { readonly since: number | undefined; readonly goesOn: boolean } {
  const [since, follow = 'true'] = [query.get('since') ?? undefined, query.get('follow') ?? undefined];
  if (follow !== 'true' && follow !== 'false') throw new LwsError('bad-request', 'follow is true or false.');
  if (since === undefined) {
    if (follow === 'true') return { since, goesOn: true };
    throw new LwsError('bad-request', 'Without following there is nothing to tell: say since when.');
  }
  const position = /^\d{1,15}$/.test(since) ? Number(since) : positionBefore(parseDateTime(since));
  if (!Number.isSafeInteger(position))
    throw new LwsError('bad-request', 'since is the position of an event, or a time such as 2026-01-31T12:00:00Z.');
  return { since: position, goesOn: follow === 'true' };
}
