/** Live updates as `text/event-stream` (WHATWG HTML 9.2). */
import { PassThrough } from 'node:stream';
import type { Platform } from '../../../lib/component/contract.js';
import { acceptedRanges } from '../../../lib/http/negotiate.js';
import type { Reply } from '../../../lib/http/reply.js';
import { type Route, type RouteRequest, route } from '../../../lib/http/route.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { qualityOf } from '../../../lib/tools/fields/accept.js';
import { formatLink } from '../../../lib/tools/fields/link.js';
import { type Activity, notificationOf } from '../delivery/events.js';
import { PastEvents } from '../delivery/past-events.js';
import type { Channel, Channels, Listener } from './channels.js';
import type { StreamSlots } from './places.js';

export interface Streams {
  readonly platform: Platform;
  readonly channels: Channels;
  readonly places: StreamSlots;
  /** True to include the identity that made each change. */
  readonly includeActor: boolean;
}

const path = '{prefix}/subscriptions/stream';
const mediaType = 'text/event-stream';
const maxTopics = 64;
/** Maximum unread bytes of a client. Above it, the client is disconnected. */
const maxBehind = 256 << 10;
/** Maximum missed events sent to a reconnecting client. If there are more, it must read the topics again. */
const maxMissed = 20_000;
/** Maximum delay that a Node.js timer supports, in milliseconds. */
const longestTimer = 2 ** 31 - 1;
/** Delay before a disconnected client reconnects, sent to the client, in milliseconds. */
const retryMs = 3_000;

export const streamRoutes = (streams: Streams): readonly Route[] => [
  route('filtered', `GET HEAD ${path}`, (request) => stream(streams, request)),
  route('filtered', `OPTIONS ${path}`, () => ({ status: 204, fields: { Allow: 'GET, HEAD, OPTIONS' } })),
];

/** Ends a stream when its credential expires. @returns a function that cancels the timer */
export function whenExpired(expires = Number.POSITIVE_INFINITY, now: number, end: () => void): () => void {
  if (expires === Number.POSITIVE_INFINITY) return () => {};
  const timer = setTimeout(end, Math.min(Math.max(0, expires - now), longestTimer)).unref();
  return () => clearTimeout(timer);
}

async function stream(streams: Streams, request: RouteRequest): Promise<Reply> {
  const { platform, channels, places } = streams;
  const { access, address, query, req } = request;
  const { accept, 'last-event-id': lastEventId } = req.headers;
  assertAcceptable(accept);
  const topics = topicsOf(query);
  const body = new PassThrough({ writableHighWaterMark: maxBehind });
  const release = await places.take(access, address);
  body.once('close', release);
  try {
    await channels.open(access, topics, (channel, position) => {
      const after = lastEventId === undefined ? undefined : positionOf(lastEventId);
      const past = new PastEvents(pastOptions(streams, channel), after, position);
      const listener = listenerOf(platform, body, past);
      const forget = whenExpired(access.expires, platform.clock(), () => body.end());
      body.once('close', () => {
        forget();
        channels.leave(channel, listener);
      });
      body.write(`retry: ${retryMs}\n`);
      if (after === undefined) body.write(locationOf(position));
      else void tellMissed(platform, body, past, position);
      return listener;
    });
  } catch (error) {
    body.destroy();
    throw error;
  }
  return {
    status: 200,
    fields: {
      'Content-Type': mediaType,
      'Cache-Control': 'private, no-store',
      'X-Content-Type-Options': 'nosniff',
      // Prevents nginx from buffering events.
      'X-Accel-Buffering': 'no',
      Vary: 'Accept, Authorization',
      Link: formatLink(platform.rootIri, lws.storage),
    },
    body,
  };
}

function assertAcceptable(accept: string | undefined): void {
  const ranges = accept === undefined ? undefined : acceptedRanges(accept);
  if (ranges && qualityOf(ranges, mediaType) <= 0)
    throw new LwsError('not-acceptable', `The response is available as ${mediaType} only. Change the Accept field.`);
}

function topicsOf(query: URLSearchParams): readonly string[] {
  const topics = [...new Set(query.getAll('topic'))];
  if (topics.length === 0 || topics.length > maxTopics)
    throw new LwsError('bad-request', `A stream needs 1 to ${maxTopics} topics: ?topic=IRI&topic=IRI.`);
  if (!topics.every(isAbsoluteIri)) throw new LwsError('bad-request', 'Every topic must be an absolute IRI.');
  return topics;
}

/** Parses an event id as a position of the change log. Other ids become a position that the log never reaches. */
const positionOf = (id: unknown): number => (/^\d{1,15}$/.test(String(id)) ? Number(id) : Number.POSITIVE_INFINITY);

const pastOptions = ({ platform, includeActor }: Streams, { access, topics }: Channel) => ({
  ...{ platform, access, includeActor, most: maxMissed, announcements: false },
  covers: (iri: string) => topics.includes(iri) || topics.some((topic) => topic.endsWith('/') && iri.startsWith(topic)),
});

/** Sends events after a position, or `reset` if the log no longer reaches back. @param position current position of the log */
async function tellMissed(
  { rootIri: storage }: Platform,
  body: PassThrough,
  past: PastEvents,
  position: number,
): Promise<void> {
  const isOpen = (): boolean => !body.destroyed && !body.writableEnded;
  let last = 0;
  const tell = async (activity: Activity, at: number): Promise<void> => {
    if (!isOpen()) return;
    last = at;
    await new Promise((done) => body.write(messageOf(activity, at, storage), done));
  };
  try {
    await past.tellAll(tell, isOpen);
    if (isOpen() && position > last) body.write(locationOf(position));
  } catch (error) {
    if (!(error instanceof LwsError && error.code === 'gone')) return void body.destroy(error as Error);
    past.end();
    if (isOpen()) body.write(locationOf(position, reset));
  }
}

const messageOf = (activity: Activity, position: number, storage: string): string =>
  `id: ${position}\ndata: ${JSON.stringify(notificationOf(activity, storage))}\n\n`;

function listenerOf({ rootIri: storage }: Platform, body: PassThrough, past: PastEvents): Listener {
  const write = (text: string): void => {
    if (body.destroyed || body.writableEnded) return;
    // Disconnect a client that does not read. It gets the missed events after reconnecting.
    if (!body.write(text)) body.destroy();
  };
  return {
    hear(activity, position) {
      if (past.leaves(position)) write(messageOf(activity, position, storage));
    },
    beat: () => write(':\n\n'),
    end: () => void body.end(),
  };
}

const reset = 'event: reset\ndata: {"detail":"The log no longer has all events since then. Read the topics again."}\n';
/** Returns a message with the current position. Sent if no event was missed, or with `reset`. */
const locationOf = (position: number, said = ''): string => `id: ${position}\n${said}\n`;
