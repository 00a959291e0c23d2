/** Notifications: subscriptions, a durable outbox, signed webhooks, and event streams (rule 16.8). */
import { defineComponent } from '../../lib/component/component.js';
import type { Installation, Platform } from '../../lib/component/contract.js';
import { flag, integer, type SettingsOf, setting } from '../../lib/settings/settings.js';
import { hostList } from '../../lib/tools/outbound/address-policy.js';
import { createAdmission } from '../../lib/tools/outbound/admission.js';
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
    'Accept subscriptions and notify subscribers of changes.',
    'storage',
  ),
  includeActor: setting(
    'lws.notifications.include-actor',
    flag,
    false,
    'Include the actor of a change in notifications.',
    'storage',
  ),
  longest: setting(
    'lws.subscriptions.max-lifetime-seconds',
    integer(1),
    2_592_000,
    'Maximum lifetime of a subscription, in seconds.',
  ),
  perSubscriber: setting(
    'lws.subscriptions.max-per-subscriber',
    integer(1),
    100,
    'Maximum subscriptions per subscriber.',
  ),
  perAddress: setting(
    'lws.subscriptions.max-per-address',
    integer(1),
    400,
    'Maximum subscriptions per client address; controllers are exempt.',
  ),
  ofOthers: setting(
    'lws.subscriptions.max-of-others',
    integer(1),
    2_000,
    'Maximum subscriptions of all callers with a grant or a resource of their own, without controllers.',
  ),
  ofStrangers: setting(
    'lws.subscriptions.max-of-strangers',
    integer(1),
    200,
    'Maximum subscriptions of all other callers together.',
  ),
  purge: setting(
    'lws.subscription.purge-interval-seconds',
    integer(1),
    3600,
    'Interval between deletions of expired subscriptions, in seconds.',
  ),
  block: setting(
    'lws.webhook.block-private-addresses',
    flag,
    true,
    'Block deliveries to private and reserved addresses.',
  ),
  allowed: setting(
    'lws.webhook.allowed-hosts',
    hostList,
    [],
    'Inbox hosts (host or host:port) that are allowed at any address.',
  ),
  attempts: setting('lws.webhook.max-attempts', integer(1, 100), 5, 'Maximum attempts per delivery.'),
  backoff: setting(
    'lws.webhook.retry-backoff-ms',
    integer(0),
    2000,
    'Backoff between delivery attempts, in milliseconds, multiplied by the number of the attempt.',
  ),
  failures: setting(
    'lws.webhook.max-consecutive-failures',
    integer(1),
    10,
    'Consecutive failed deliveries that deactivate a subscription.',
  ),
  ...streamSettings,
  atOnce: setting('lws.webhook.max-in-flight', integer(1, 10_000), 64, 'Maximum concurrent deliveries.'),
  othersPerSecond: setting(
    'lws.webhook.max-per-second-of-others',
    integer(1, 100_000),
    40,
    'Maximum deliveries per second to callers with a grant or a resource of their own, without controllers; more are queued.',
  ),
  strangersPerSecond: setting(
    'lws.webhook.max-per-second-of-strangers',
    integer(1, 100_000),
    10,
    'Maximum deliveries per second to all other callers together; more are queued.',
  ),
  perHost: setting(
    'lws.webhook.max-in-flight-per-host',
    integer(1, 1000),
    4,
    'Maximum concurrent deliveries per host.',
  ),
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
      help: 'print committed events of the running server as JSON lines, live or since a time',
      flags: { since: 'POSITION print the events after a position or a time (2026-01-31T12:00:00Z), then exit' },
      switches: { follow: 'continue with live events until the server stops (default without --since)' },
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
  // Register after the outbox, which must stage the notifications of a commit first.
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
    // Closes the event streams, so that they do not delay the stop of the server: event streams never end by themselves.
    drain() {
      for (const { end } of followers) end();
      streams.drain();
    },
  };
}

/** Reads imported subscriptions. The lifetime and count limits of the importing caller apply. */
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

/** Returns the background jobs: deliveries, and deletion of expired subscriptions. */
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
      .catch((error: unknown) => log.error({ err: error }, 'expired subscriptions could not be deleted'));
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
  means: Omit<DistributionOptions, 'callerClass' | 'perSecond'>,
): Distributions => ({
  controller: new FanOut({ ...means, callerClass: 'controller' }),
  known: new FanOut({ ...means, callerClass: 'known', perSecond: othersPerSecond }),
  stranger: new FanOut({ ...means, callerClass: 'stranger', perSecond: strangersPerSecond }),
});

const guardOf = ({ block, allowed }: Given) => ({ blockPrivateAddresses: block, allowedHosts: allowed });
