/** Live updates as a part of the component: its settings, its routes, and what the storage description says of them. */
import type { Installation, Platform } from '../../../lib/component/contract.js';
import { type Metric, metric } from '../../../lib/metrics.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { integer, type SettingsOf, setting } from '../../../lib/settings.js';
import { Channels } from './channels.js';
import { streamRoutes } from './event-stream.js';
import { Places } from './places.js';
import { WebSockets } from './web-socket.js';

export const streamSettings = {
  streams: setting('lws.streams.max', integer(0), 1_000, 'Streams of live updates at once; 0: there are none.'),
  streamsPerSubject: setting('lws.streams.max-per-subject', integer(1), 20, 'The same of one subject.'),
  streamsPerAddress: setting(
    'lws.streams.max-per-address',
    integer(1),
    40,
    'The same from one address, those of controllers aside.',
  ),
  streamsOfStrangers: setting(
    'lws.streams.max-of-strangers',
    integer(0),
    200,
    'The same of all who own nothing and were granted nothing, together.',
  ),
};

export interface InstalledStreams
  extends Pick<Required<Installation>, 'routes' | 'services' | 'drain'>,
    Pick<Installation, 'links' | 'upgrade'> {
  readonly channels: Channels;
  readonly metrics: () => readonly Metric[];
}

const help = 'Streams of live updates, and addresses of some to come.';

/** @param endpoint of subscriptions */
export function installStreams(
  platform: Platform,
  { includeActor, ...given }: SettingsOf<typeof streamSettings> & { readonly includeActor: boolean },
  endpoint: string,
): InstalledStreams {
  const channels = new Channels(platform);
  if (given.streams === 0)
    return { channels, routes: [], services: [], metrics: () => [], drain: () => channels.end() };
  const places = new Places(platform, {
    inAll: given.streams,
    perSubject: given.streamsPerSubject,
    perAddress: given.streamsPerAddress,
    ofStrangers: given.streamsOfStrangers,
  });
  const streams = { platform, channels, places, includeActor };
  const sockets = new WebSockets(streams);
  return {
    channels,
    routes: [...streamRoutes(streams), ...sockets.routes],
    services: [
      { type: `${lws.namespace}EventStreamService`, serviceEndpoint: `${endpoint}/stream` },
      ...sockets.services,
    ],
    metrics: () => [metric('gauge', 'streams_open', help, places.size)],
    links: sockets.links,
    upgrade: (req, socket, head) => sockets.upgrade(req, socket, head),
    drain() {
      sockets.drain();
      channels.end();
    },
  };
}
