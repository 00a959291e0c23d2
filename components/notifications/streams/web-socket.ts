/**
 * `WebSocketChannel2023` of the Solid Notifications Protocol: a caller with read access to a topic gets an unguessable URL,
 * which is valid for one connection within a minute.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import { type WebSocket, WebSocketServer } from 'ws';
import { requireAccess } from '../../../lib/authorization/guard.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Installation } from '../../../lib/component/contract.js';
import { acceptedRanges, chooseRdfFormat } from '../../../lib/http/negotiate.js';
import { statusOf } from '../../../lib/http/problem.js';
import type { Reply } from '../../../lib/http/reply.js';
import { type Route, type RouteRequest, route, urlOfRoute } from '../../../lib/http/route.js';
import { endUpgrade } from '../../../lib/http/upgrade.js';
import { turtle } from '../../../lib/rdf/formats.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';
import { lws, rdf, xsd } from '../../../lib/rdf/vocabulary.js';
import { readBody } from '../../../lib/resources/body.js';
import { decodeGraph } from '../../../lib/storage/keys/quad-decoding.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { chooseMediaType } from '../../../lib/tools/fields/accept.js';
import { parseDateTime } from '../../../lib/tools/fields/date.js';
import { formatLink } from '../../../lib/tools/fields/link.js';
import { isObject } from '../../../lib/tools/json/exact-json.js';
import { decodeUtf8, parseJson } from '../../../lib/tools/json/json.js';
import type { Activity } from '../delivery/events.js';
import type { Channel, Listener } from './channels.js';
import { type Streams, whenExpired } from './event-stream.js';

/** WebSocket URL that was issued, but to which no client has connected yet. */
interface Ticket {
  readonly access: Access;
  readonly wish: ChannelWish;
  /** Releases the stream slot of the URL. */
  readonly release: () => void;
  readonly timer: NodeJS.Timeout;
}

const path = '{prefix}/notifications/WebSocketChannel2023';
const accepted = ['application/ld+json', 'application/json', turtle];
const longestDocument = 16 << 10;
/** Lifetime of an unused URL, in milliseconds. */
const validMs = 60_000;
/** Maximum unread bytes of a client before it is disconnected. */
const maxBehind = 256 << 10;
/** Maximum bytes of a client message. Messages are ignored. */
const maxReceived = 1024;
/** Timeout of the closing handshake, in milliseconds. */
const goodByeMs = 1_000;
const never = Number.POSITIVE_INFINITY;

export class WebSockets implements Pick<Required<Installation>, 'links' | 'routes' | 'services' | 'upgrade'> {
  private readonly tickets = new Map<string, Ticket>();
  private readonly wire = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxReceived,
  });
  private readonly endpoint: string;
  /** Path prefix of all WebSocket URLs. */
  private readonly addresses: string;

  constructor(private readonly streams: Streams) {
    this.endpoint = urlOfRoute(streams.platform, path);
    this.addresses = `${new URL(this.endpoint).pathname}/`;
  }

  /** Link by which Solid clients discover the channel (Solid Protocol 4.1). */
  get links(): Installation['links'] & object {
    const target = `${this.streams.platform.baseUri}/.well-known/solid`;
    return [{ target, relation: 'http://www.w3.org/ns/solid/terms#storageDescription' }];
  }

  get services(): Installation['services'] & object {
    return [{ type: channelType, serviceEndpoint: this.endpoint }];
  }

  get routes(): Installation['routes'] & object {
    const describe: Route['handle'] = ({ req }) => this.describe(req.headers.accept);
    return [
      route('filtered', `POST ${path}`, (request) => this.subscribe(request)),
      route('public', `GET HEAD ${path}`, describe),
      route('public', 'GET HEAD /.well-known/solid', describe),
    ];
  }

  /** Accepts a connection to an issued URL. */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): boolean {
    const [asked = ''] = (req.url ?? '').split('?', 1);
    if (!asked.startsWith(this.addresses)) return false;
    const name = asked.slice(this.addresses.length);
    const ticket = this.tickets.get(name);
    // A page of another origin cannot use a leaked URL.
    if (!ticket || req.headers.origin !== ticket.access.origin) endUpgrade(socket, ticket ? 403 : 404);
    else {
      this.tickets.delete(name);
      clearTimeout(ticket.timer);
      void this.connect(ticket, req, [socket, head]);
    }
    return true;
  }

  /** Revokes the URLs to which no client has connected. */
  drain(): void {
    for (const { timer, release } of this.tickets.values()) {
      clearTimeout(timer);
      release();
    }
    this.tickets.clear();
  }

  private async subscribe({ req, access, address, body: open }: RouteRequest): Promise<Reply> {
    const { platform, places } = this.streams;
    const body = open();
    if (!accepted.includes(body.mediaType))
      throw new LwsError('unsupported-media-type', `Send the channel request as ${accepted.join(' or ')}.`, {
        fields: { 'Accept-Post': accepted.join(', ') },
      });
    const sent = await readBody(body, longestDocument);
    const document =
      body.mediaType === turtle
        ? channelOfGraph(decodeGraph((await platform.documents.parse(sent, turtle, platform.rootIri)).keys))
        : parseJson(decodeUtf8(sent));
    const wish = readChannel(document, platform.clock());
    await requireAccess(platform, platform.store, access, 'read', wish.topic);
    const release = await places.take(access, address);
    const name = randomBytes(32).toString('base64url');
    const timer = setTimeout(() => {
      this.tickets.delete(name);
      release();
    }, validMs).unref();
    this.tickets.set(name, { access, wish, release, timer });
    const receiveFrom = `${this.endpoint.replace(/^http/, 'ws')}/${name}`;
    const made = [wish, `urn:uuid:${randomUUID()}`, receiveFrom] as const;
    const isTurtle = chooseMediaType(acceptedRanges(req.headers.accept ?? '') ?? [], accepted) === turtle;
    return {
      status: 200,
      fields: {
        'Content-Type': isTurtle ? turtle : 'application/ld+json',
        'Cache-Control': 'private, no-store',
        Vary: 'Accept',
        Link: formatLink(platform.rootIri, lws.storage),
      },
      body: Buffer.from(isTurtle ? channelTurtle(...made) : JSON.stringify(channelDocument(...made))),
    };
  }

  private async describe(accept: string | undefined): Promise<Reply> {
    const { documents, rootIri: storage, baseUri } = this.streams.platform;
    const base = `${baseUri}/.well-known/solid`;
    const text = Buffer.from(solidDescription(storage, this.endpoint));
    const { keys, prefixes } = await documents.parse(text, turtle, base);
    const wanted = chooseRdfFormat(accept);
    const bytes = (await documents.render(keys, wanted, base, prefixes)) ?? text;
    return {
      status: 200,
      fields: { 'Content-Type': wanted, Vary: 'Accept', Link: formatLink(storage, lws.storage) },
      body: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    };
  }

  /** Connects a client. Checks access to the topic again, because the URL may be a minute old. */
  private async connect(
    { access, wish, release }: Ticket,
    req: IncomingMessage,
    [socket, head]: readonly [Duplex, Buffer],
  ): Promise<void> {
    socket.once('close', release);
    const told = (status: number): void =>
      this.streams.platform.log.info({ method: 'GET', path: this.addresses, status, ...access.principal });
    try {
      if (socket.destroyed) return release();
      await this.streams.channels.open(access, [wish.topic], (channel) => {
        let taken: WebSocket | undefined;
        // `handleUpgrade` calls back synchronously, or sends an error for an invalid handshake.
        this.wire.handleUpgrade(req, socket, head, (opened) => {
          taken = opened;
        });
        told(taken ? 101 : 400);
        const listener = taken ? listenerOf(taken, wish.topic) : deaf;
        this.watch(socket, { channel, listener }, Math.min(access.expires ?? never, wish.endAt ?? never));
        return listener;
      });
    } catch (error) {
      if (!(error instanceof LwsError))
        this.streams.platform.log.error({ err: error }, 'a WebSocket connection could not be opened as a channel');
      told(statusOf(error));
      endUpgrade(socket, statusOf(error));
    }
  }

  private watch(
    socket: Duplex,
    { channel, listener }: { readonly channel: Channel; readonly listener: Listener },
    ends: number,
  ): void {
    const { channels, platform } = this.streams;
    const forget = whenExpired(ends, platform.clock(), listener.end);
    const leave = (): void => {
      forget();
      channels.leave(channel, listener);
    };
    // The socket may have closed during the access check. Remove the listener only after the channel has added it.
    if (socket.destroyed) setImmediate(leave);
    else socket.once('close', leave);
  }
}

const deaf: Listener = { hear() {}, beat() {}, end() {} };

function listenerOf(client: WebSocket, topic: string): Listener {
  let isAlive = true;
  // A protocol error closes the connection. No other action is needed.
  client.on('error', () => client.terminate());
  client.on('pong', () => {
    isAlive = true;
  });
  return {
    hear(activity) {
      const message = messageOf(activity, topic);
      if (!message || client.readyState !== client.OPEN) return;
      if (client.bufferedAmount > maxBehind) client.terminate();
      else client.send(JSON.stringify(message));
    },
    beat() {
      if (!isAlive) return client.terminate();
      isAlive = false;
      client.ping();
    },
    end() {
      client.close(1001);
      setTimeout(() => client.terminate(), goodByeMs).unref();
    },
  };
}

const notify = 'http://www.w3.org/ns/solid/notifications#';
const channelType = `${notify}WebSocketChannel2023`;
const contexts = ['https://www.w3.org/ns/solid/notification/v1'];
const types: readonly unknown[] = ['WebSocketChannel2023', 'notify:WebSocketChannel2023', channelType];

const malformed = (detail: string): LwsError => new LwsError('malformed-body', detail);

export interface ChannelWish {
  readonly topic: string;
  /** Time at which the channel ends, in milliseconds since the epoch. Absent: no limit. */
  readonly endAt?: number;
}

/** Parses a channel request. @param now milliseconds since the epoch @throws LwsError `malformed-body` */
function readChannel(document: unknown, now: number): ChannelWish {
  if (!isObject(document)) throw malformed('The channel must be a JSON object.');
  const { type, topic, endAt } = document;
  if (![type].flat().some((each) => types.includes(each)))
    throw malformed('The type of the channel must be WebSocketChannel2023.');
  const [iri, ...more] = [topic].flat();
  if (typeof iri !== 'string' || more.length > 0 || !isAbsoluteIri(iri))
    throw malformed('The member topic must be one absolute IRI.');
  if (endAt === undefined) return { topic: iri };
  const time = typeof endAt === 'string' ? parseDateTime(endAt) : Number.NaN;
  if (!(time > now)) throw malformed('The member endAt must be a future date and time with a time zone.');
  return { topic: iri, endAt: time };
}

/** Returns the channel that the triples describe, as a JSON object. */
function channelOfGraph(quads: readonly Quad[]): object {
  const channel = quads.find(({ predicate, object }) => predicate.value === rdf.type && types.includes(object.value));
  // Use an object without prototype, because the client chooses the keys.
  const members: Record<string, string[]> = Object.create(null);
  for (const { subject, predicate, object } of quads)
    if (subject.equals(channel?.subject)) {
      const name = predicate.value === rdf.type ? 'type' : predicate.value.replace(notify, '');
      members[name] = [...(members[name] ?? []), object.value];
    }
  const { endAt, ...others } = members;
  return { ...others, ...(endAt ? { endAt: endAt.length === 1 ? endAt[0] : endAt } : {}) };
}

const channelTurtle = ({ topic, endAt }: ChannelWish, id: string, receiveFrom: string): string =>
  `@prefix notify: <${notify}> .\n<${id}> a notify:WebSocketChannel2023 ; notify:topic <${topic}> ; notify:receiveFrom <${receiveFrom}>${
    endAt === undefined ? '' : ` ; notify:endAt "${new Date(endAt).toISOString()}"^^<${xsd.namespace}dateTime>`
  } .\n`;

/** Returns the description of a channel, for its subscriber. */
const channelDocument = ({ topic, endAt }: ChannelWish, id: string, receiveFrom: string): object => ({
  '@context': contexts,
  id,
  type: channelType,
  topic,
  receiveFrom,
  ...(endAt === undefined ? {} : { endAt: new Date(endAt).toISOString() }),
});

/**
 * Converts an event to Solid terms: changes of the topic, and members added to or removed from a container. Returns `undefined`
 * for deeper descendants, which the topic does not cover.
 */
function messageOf({ id, type, object, target, origin, published }: Activity, topic: string): object | undefined {
  const said = { '@context': ['https://www.w3.org/ns/activitystreams', ...contexts], id };
  if (object.id === topic) return { ...said, type: type[0], object: object.id, published };
  if (target === topic || origin === topic)
    return { ...said, type: target === topic ? 'Add' : 'Remove', object: object.id, target: topic, published };
  return undefined;
}

/** Returns the description of the notification service in Turtle. */
const solidDescription = (storage: string, subscription: string): string => `@prefix notify: <${notify}> .
@prefix pim: <http://www.w3.org/ns/pim/space#> .
<${storage}> a pim:Storage ; notify:subscription <${subscription}> .
<> notify:subscription <${subscription}> .
<${subscription}> notify:channelType notify:WebSocketChannel2023 ; notify:feature notify:endAt .
`;
