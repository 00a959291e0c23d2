/** Telling others: subscriptions, a durable outbox, signed webhooks, and a stream of events for people (rule 16.8). */
import { defineComponent, type Installation, type Platform } from '../../lib/component/contract.js';
import { hostList } from '../../lib/outbound/address-policy.js';
import { createAdmission } from '../../lib/outbound/admission.js';
import { flag, integer, type SettingsOf, setting } from '../../lib/settings.js';
import { Deliveries, outboxMeasures } from './delivery/delivery.js';
import { type DistributionOptions, type Distributions, FanOut } from './delivery/fan-out.js';
import { Outbox } from './delivery/outbox.js';
import type { Follower } from './delivery/readers.js';
import { foreignSubscription } from './delivery/subscription.js';
import { Subscriptions, subscriptionSpace } from './delivery/subscriptions.js';
import { eventsRoute } from './events-route.js';
import { printEvents } from './follow-command.js';
import { assertInbox, subscriptionRoutes, subscriptionsUrl } from './routes.js';
import { type InstalledStreams, installStreams, streamSettings } from './streams/streams.js';

const settings = {
  enabled: setting(
    'lws.notifications.enabled',
    flag,
    true,
    'Take subscriptions, and tell subscribers of changes.',
    'storage',
  ),
  includeActor: setting(
    'lws.notifications.include-actor',
    flag,
    false,
    'Tell subscribers who made a change.',
    'storage',
  ),
  longest: setting(
    'lws.subscriptions.max-lifetime-seconds',
    integer(1),
    2_592_000,
    'The longest life of a subscription, in seconds.',
  ),
  perSubscriber: setting('lws.subscriptions.max-per-subscriber', integer(1), 100, 'Subscriptions of one subscriber.'),
  perAddress: setting(
    'lws.subscriptions.max-per-address',
    integer(1),
    400,
    'Subscriptions from one address, those of controllers aside.',
  ),
  ofOthers: setting(
    'lws.subscriptions.max-of-others',
    integer(1),
    2_000,
    'Subscriptions of all who have a grant or own something, and are no controllers.',
  ),
  ofStrangers: setting('lws.subscriptions.max-of-strangers', integer(1), 200, 'Subscriptions of all others together.'),
  purge: setting(
    'lws.subscription.purge-interval-seconds',
    integer(1),
    3600,
    'Seconds between clearings of expired subscriptions.',
  ),
  block: setting(
    'lws.webhook.block-private-addresses',
    flag,
    true,
    'Deliver to nothing at addresses that are not public.',
  ),
  allowed: setting(
    'lws.webhook.allowed-hosts',
    hostList,
    [],
    'Hosts (host or host:port) that may be delivered to whatever their address.',
  ),
  attempts: setting('lws.webhook.max-attempts', integer(1, 100), 5, 'Attempts of one delivery.'),
  backoff: setting(
    'lws.webhook.retry-backoff-ms',
    integer(0),
    2000,
    'Milliseconds before an attempt is repeated, times its number.',
  ),
  failures: setting(
    'lws.webhook.max-consecutive-failures',
    integer(1),
    10,
    'Failed deliveries in a row that deactivate a subscription.',
  ),
  ...streamSettings,
  atOnce: setting('lws.webhook.max-in-flight', integer(1, 10_000), 64, 'Deliveries at once.'),
  othersPerSecond: setting(
    'lws.webhook.max-per-second-of-others',
    integer(1, 100_000),
    40,
    'Deliveries a second to those who have a grant or own something, and are no controllers; more wait.',
  ),
  strangersPerSecond: setting(
    'lws.webhook.max-per-second-of-strangers',
    integer(1, 100_000),
    10,
    'Deliveries a second to all others together; more wait.',
  ),
  perHost: setting('lws.webhook.max-in-flight-per-host', integer(1, 1000), 4, 'Deliveries to one host at once.'),
};

type Given = SettingsOf<typeof settings>;
type Parts = Readonly<{ subscriptions: Subscriptions; distributions: Distributions; streams: InstalledStreams }>;

export default defineComponent({
  name: 'notifications',
  settings,
  isEnabled: ({ enabled }) => enabled,
  install,
  commands: {
    events: {
      help: 'print the committed events of the running server as JSON lines, as they come or since some time',
      flags: { since: 'POSITION print what came after an event, or a time (2026-01-31T12:00:00Z), and end' },
      switches: { follow: 'go on until the server stops (it always does without --since)' },
      example: 'events --since 2026-01-31T12:00:00Z --follow',
      run: printEvents,
    },
  },
});

async function install(platform: Platform, given: Given): Promise<Installation> {
  const { store, rootIri: storage, clock, authorizer } = platform;
  const subscriptions = await Subscriptions.open(platform);
  const followers = new Set<Follower>();
  const streams = installStreams(platform, given, subscriptionsUrl(platform));
  const { channels } = streams;
  const distributions = distributionsOf(given, {
    log: platform.log,
    stage: (tx, owed) => outbox.deliver(tx, owed),
    pageOf: (...owed) => subscriptions.pageOf(...owed),
  });
  const { includeActor } = given;
  const means = { storage, distributions, authorizer, subscriptions, clock, includeActor, followers, channels };
  const outbox: Outbox = new Outbox(means);
  await outbox.open(store);
  // After the outbox, which tells of the commit.
  store.onCommit(channels.committed);
  const admit = createAdmission(guardOf(given));
  return {
    admitInbox: (inbox) => assertInbox({ admit, platform }, inbox),
    routes: [
      ...streams.routes,
      ...subscriptionRoutes({ platform, subscriptions, admit, longestMs: given.longest * 1000, limits: given }),
      eventsRoute({ platform, followers, includeActor }),
    ],
    services: [
      {
        type: 'NotificationService',
        serviceEndpoint: subscriptionsUrl(platform),
        subscriptionType: ['WebhookSubscription'],
      },
      ...streams.services,
    ],
    capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-notifications-webhook/' }],
    ...(streams.upgrade ? { upgrade: streams.upgrade } : {}),
    ...(streams.links ? { links: streams.links } : {}),
    readState: foreignState(platform, given, subscriptions),
    ...background(platform, given, { subscriptions, distributions, streams }),
    isFollowed: () => followers.size > 0,
    // A stream of events ends when the server does; it would hold it up for as long as somebody listens.
    drain() {
      for (const { end } of followers) end();
      streams.drain();
    },
  };
}

/** Subscriptions of an archive: as long and as many as whoever imports it may have. */
function foreignState(
  { rootIri: root, clock }: Platform,
  { longest, perSubscriber }: Given,
  subscriptions: Subscriptions,
): NonNullable<Installation['readState']> {
  const hasRoom = (subject: string, taken: number): boolean =>
    subscriptions.count(({ subscriber }) => subscriber === subject) + taken < perSubscriber;
  return (space, id, value) =>
    space === subscriptionSpace
      ? foreignSubscription(value, id, { root, latest: clock() + longest * 1000, hasRoom })
      : undefined;
}

/** What runs from the server's start to its stop: deliveries, and clearings of expired subscriptions. */
function background(
  platform: Platform,
  given: Given,
  { subscriptions, distributions, streams }: Parts,
): Pick<Installation, 'start' | 'stop' | 'metrics' | 'isBusy'> {
  const { store, rootIri: storage, clock, log, fetchUnder, signingKey } = platform;
  const deliveries = new Deliveries({
    store,
    storage,
    subscriptions,
    fetch: fetchUnder(guardOf(given)),
    key: signingKey,
    clock,
    log,
    maxAttempts: given.attempts,
    backoffMs: given.backoff,
    maxFailures: given.failures,
    maxAtOnce: given.atOnce,
    maxPerHost: given.perHost,
    perSecond: { known: given.othersPerSecond, stranger: given.strangersPerSecond },
  });
  let timer: NodeJS.Timeout | undefined;
  const tidy = (): void => {
    subscriptions
      .purge(store)
      .catch((error: unknown) => log.error({ err: error }, 'expired subscriptions could not be cleared'));
  };
  return {
    metrics: async () => [...(await outboxMeasures(store, deliveries.outcomes, clock())), ...streams.metrics()],
    isBusy: () => deliveries.isBusy || Object.values(distributions).some(({ isWaiting }) => isWaiting),
    async start() {
      await deliveries.start();
      for (const each of Object.values(distributions)) each.run(store);
      tidy();
      timer = setInterval(tidy, given.purge * 1000).unref();
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(Object.values(distributions).map((each) => each.stop()));
      await deliveries.stop();
    },
  };
}

const distributionsOf = (
  { othersPerSecond, strangersPerSecond }: Given,
  means: Omit<DistributionOptions, 'standing' | 'perSecond'>,
): Distributions => ({
  controller: new FanOut({ ...means, standing: 'controller' }),
  known: new FanOut({ ...means, standing: 'known', perSecond: othersPerSecond }),
  stranger: new FanOut({ ...means, standing: 'stranger', perSecond: strangersPerSecond }),
});

const guardOf = ({ block, allowed }: Given) => ({ blockPrivateAddresses: block, allowedHosts: allowed });
