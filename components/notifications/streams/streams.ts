/** Live updates as a part of the component: its settings, its routes, and what the storage description says of them. */
import type { House, Installation } from '../../../lib/component.js';
import { integer, type SettingsOf, setting } from '../../../lib/settings.js';
import { Channels } from './channels.js';
import { streamRoutes } from './event-stream.js';
import { Places } from './places.js';

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

export interface InstalledStreams extends Pick<Required<Installation>, 'routes' | 'services'> {
  readonly channels: Channels;
}

/** @param endpoint of subscriptions */
export function installStreams(
  house: House,
  given: SettingsOf<typeof streamSettings>,
  endpoint: string,
): InstalledStreams {
  const channels = new Channels(house);
  if (given.streams === 0) return { channels, routes: [], services: [] };
  const places = new Places(house, {
    inAll: given.streams,
    perSubject: given.streamsPerSubject,
    perAddress: given.streamsPerAddress,
    ofStrangers: given.streamsOfStrangers,
  });
  return {
    channels,
    routes: streamRoutes({ house, channels, places }),
    services: [
      { type: 'NotificationService', serviceEndpoint: `${endpoint}/stream`, subscriptionType: ['EventStream'] },
    ],
  };
}
