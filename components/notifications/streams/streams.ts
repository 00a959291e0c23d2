/** Installs live updates: settings, routes, and their entries in the storage description. */
import type { Installation, Platform } from '../../../lib/component/contract.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { integer, type SettingsOf, setting } from '../../../lib/settings/settings.js';
import { type Metric, metric } from '../../../lib/tools/metrics.js';
import { Channels } from './channels.js';
import { streamRoutes } from './event-stream.js';
import { StreamSlots } from './places.js';
import { WebSockets } from './web-socket.js';

export const streamSettings = {
  streams: setting('lws.streams.max', integer(0), 1_000, 'Maximum open streams of live updates; 0 switches them off.'),
  streamsPerSubject: setting('lws.streams.max-per-subject', integer(1), 20, 'Maximum open streams per subject.'),
  streamsPerAddress: setting(
    'lws.streams.max-per-address',
    integer(1),
    40,
    'Maximum open streams per client address; controllers are exempt.',
  ),
  streamsOfStrangers: setting(
    'lws.streams.max-of-strangers',
    integer(0),
    200,
    'Maximum open streams of all callers without a grant or a resource of their own together.',
  ),
};

export interface InstalledStreams
  extends Pick<Required<Installation>, 'routes' | 'services' | 'drain'>,
    Pick<Installation, 'links' | 'upgrade'> {
  readonly channels: Channels;
  readonly metrics: () => readonly Metric[];
}

const help = 'Open streams of live updates, including reserved WebSocket URLs.';

/** Installs live updates. @param endpoint URL of the subscriptions endpoint */
export function installStreams(
  platform: Platform,
  { includeActor, ...given }: SettingsOf<typeof streamSettings> & { readonly includeActor: boolean },
  endpoint: string,
): InstalledStreams {
  const channels = new Channels(platform);
  if (given.streams === 0)
    return { channels, routes: [], services: [], metrics: () => [], drain: () => channels.end() };
  const places = new StreamSlots(platform, {
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
