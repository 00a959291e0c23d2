/** Subscription endpoints (rules 16.1, 16.3). */
import { randomUUID } from 'node:crypto';
import { inAllStorages } from '../../lib/authentication/tally.js';
import { controls, notFound, requireAccess } from '../../lib/authorization/guard.js';
import type { Platform } from '../../lib/component/contract.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import type { Reply } from '../../lib/http/reply.js';
import { preconditions } from '../../lib/http/request.js';
import { type Route, type RouteRequest, route } from '../../lib/http/route.js';
import {
  assertMemberState,
  memberFields,
  type SystemMember,
  systemContainerReply,
  systemMemberReply,
} from '../../lib/http/system-container.js';
import { readBody } from '../../lib/resources/body.js';
import type { ListedMember } from '../../lib/resources/listing-documents.js';
import { LwsError } from '../../lib/tools/errors.js';
import { digestOfClient } from '../../lib/tools/fields/client-address.js';
import { decodeUtf8, parseJson } from '../../lib/tools/json/json.js';
import type { OutboundAdmission } from '../../lib/tools/outbound/admission.js';
import { OutboundError } from '../../lib/tools/outbound/outbound-error.js';
import { readSubscription, type Subscription, standingOf, subscriptionDocument } from './delivery/subscription.js';
import { type Subscriptions, subscriptionKey } from './delivery/subscriptions.js';

export interface SubscriptionEndpoint {
  readonly platform: Platform;
  readonly subscriptions: Subscriptions;
  /** Function that checks if deliveries to an inbox URL are allowed. */
  readonly admit: OutboundAdmission;
  readonly longestMs: number;
  readonly limits: Readonly<Record<'perSubscriber' | 'perAddress' | 'ofOthers' | 'ofStrangers', number>>;
}

const path = '{prefix}/subscriptions';
const [longestDocument, admissionMs] = [64 << 10, 5_000];
const accepted = [lwsJson, 'application/ld+json', 'application/json'];

export const subscriptionsUrl = ({ baseUri, systemPrefix }: Platform): string =>
  `${baseUri}${systemPrefix}/subscriptions`;
const urlOf = (platform: Platform, id: string): string => `${subscriptionsUrl(platform)}/${id}`;

export function subscriptionRoutes(endpoint: SubscriptionEndpoint): readonly Route[] {
  return [
    route('authenticated', `GET HEAD ${path}`, (request) => listing(endpoint, request)),
    route('authenticated', `POST ${path}`, (request) => subscribe(endpoint, request)),
    route('authenticated', `GET HEAD ${path}/:id`, async (request) =>
      systemMemberReply(endpoint.platform.rootIri, request.req, memberOf(endpoint, await own(endpoint, request))),
    ),
    route('authenticated', `DELETE ${path}/:id`, (request) => cancel(endpoint, request)),
    route('authenticated', `OPTIONS ${path}/:id`, async (request) => {
      await own(endpoint, request);
      return { status: 204, fields: { Allow: 'GET, HEAD, DELETE, OPTIONS' } };
    }),
  ];
}

/** Returns a subscription as a member of the listing, as its owner sees it. */
function memberOf({ platform }: SubscriptionEndpoint, subscription: Subscription): SystemMember & ListedMember {
  const iri = urlOf(platform, subscription.id);
  const { created, lastSuccess = 0, lastFailure = 0 } = subscription;
  const bytes = Buffer.from(JSON.stringify(subscriptionDocument(subscription, iri)));
  return {
    iri,
    kind: 'json',
    container: subscriptionsUrl(platform),
    type: 'WebhookSubscription',
    types: ['WebhookSubscription'],
    mediaType: lwsJson,
    bytes,
    size: bytes.length,
    modified: Math.max(created, lastSuccess, lastFailure),
  };
}

/** Lists the caller's own subscriptions; for controllers, all subscriptions. */
async function listing(endpoint: SubscriptionEndpoint, request: RouteRequest): Promise<Reply> {
  const { platform, subscriptions } = endpoint;
  const { access } = request;
  const controller = await controls(platform, platform.store, access);
  const members = subscriptions
    .all()
    .filter(({ subscriber }) => controller || subscriber === access.principal!.subject)
    .map((subscription) => memberOf(endpoint, subscription))
    .sort((a, b) => (a.iri < b.iri ? -1 : 1));
  const container = { iri: subscriptionsUrl(platform), members, acceptPost: accepted.join(', ') };
  return systemContainerReply(platform.storage, request, container);
}

async function subscribe(
  endpoint: SubscriptionEndpoint,
  { access, address, body: open }: RouteRequest,
): Promise<Reply> {
  const { platform, longestMs } = endpoint;
  const body = open();
  if (!accepted.includes(body.mediaType))
    throw new LwsError('unsupported-media-type', `Send the subscription as ${accepted.join(' or ')}.`, {
      fields: { 'Accept-Post': accepted.join(', ') },
    });
  const sent = parseJson(decodeUtf8(await readBody(body, longestDocument)));
  const now = platform.clock();
  const wish = readSubscription(sent, now, longestMs);
  await assertInbox(endpoint, wish.inbox);
  const { subject, client } = access.principal!;
  const callerClass = await platform.authorizer.callerClass(platform.store, access);
  const subscription: Subscription = {
    id: randomUUID(),
    subscriber: subject,
    ...(client === undefined ? {} : { client }),
    ...(callerClass === 'controller' ? {} : { from: digestOfClient(address) }),
    ...(callerClass === 'stranger' ? { isStranger: true } : {}),
    ...wish,
    created: now,
    active: true,
    failures: 0,
  };
  await platform.store.transact(async (tx) => {
    // Each topic must be readable by the subscriber. Nonexistent and unreadable topics give the same error.
    for (const topic of wish.topics) await requireAccess(platform, tx, access, 'read', topic);
    assertRoom(endpoint, subscription);
    tx.putEntry(subscriptionKey(subscription.id), JSON.stringify(subscription));
  });
  const member = memberOf(endpoint, subscription);
  return {
    status: 201,
    fields: { ...memberFields(platform.rootIri, member), Location: member.iri },
    body: member.bytes,
  };
}

/** Asserts the limits. Anyone can create identities, so limits also apply per address and to unprivileged callers in total. */
function assertRoom({ subscriptions, limits }: SubscriptionEndpoint, wanted: Subscription): void {
  const callerClass = standingOf(wanted);
  const assertBelow = (
    most: number,
    counts: (each: Subscription) => boolean,
    said: readonly [who: string, setting: string, elsewhere?: number],
  ): void => {
    const count = subscriptions.count(counts) + (said[2] ?? 0);
    if (count < most) return;
    throw new LwsError(
      'too-many-requests',
      `${said[0]} ${count} subscriptions already (lws.subscriptions.${said[1]}). Cancel some first.`,
      { fields: { 'Retry-After': '3600' } },
    );
  };
  const isOwn = ({ subscriber }: Subscription): boolean => subscriber === wanted.subscriber;
  assertBelow(limits.perSubscriber, isOwn, ['You have', 'max-per-subscriber']);
  if (callerClass === 'controller') return;
  const isStranger = callerClass === 'stranger';
  const { tally } = subscriptions;
  const isHere = ({ from }: Subscription): boolean => from === wanted.from;
  const ofAddress = isStranger ? tally.elsewhere(wanted.from) : 0;
  assertBelow(limits.perAddress, isHere, ['Your address has', 'max-per-address', ofAddress]);
  const isLike = (each: Subscription): boolean => standingOf(each) === callerClass;
  const all = ['Unprivileged callers have', 'max-of-strangers'] as const;
  if (isStranger) {
    assertBelow(limits.ofStrangers, isLike, all);
    assertBelow(limits.ofStrangers * inAllStorages, isLike, [...all, tally.elsewhere()]);
  } else assertBelow(limits.ofOthers, isLike, ['There are', 'max-of-others']);
}

/** Asserts that deliveries to an inbox are allowed, with the check of every delivery. @throws LwsError `malformed-body` */
export async function assertInbox(
  { admit, platform }: Pick<SubscriptionEndpoint, 'admit' | 'platform'>,
  inbox: string,
): Promise<void> {
  const url = new URL(inbox);
  // A delivery to this server would be a write, and cause another notification.
  if (url.origin === new URL(platform.rootIri).origin)
    throw new LwsError('malformed-body', 'The inbox is on this server. Use an inbox on another server.');
  try {
    await admit(url, AbortSignal.timeout(admissionMs));
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw new LwsError(
      'malformed-body',
      'Deliveries to the host of this inbox are not allowed (lws.webhook.block-private-addresses, lws.webhook.allowed-hosts).',
      { reason: error.message },
    );
  }
}

/** Returns the subscription of a request. @throws LwsError `not-found` unless the caller is its subscriber or a controller */
async function own(
  { platform, subscriptions }: SubscriptionEndpoint,
  { access, parameters }: RouteRequest,
): Promise<Subscription> {
  const found = subscriptions.get(parameters['id']!);
  if (found && (found.subscriber === access.principal!.subject || (await controls(platform, platform.store, access))))
    return found;
  throw notFound(found ? 'neither the subscriber nor a controller' : 'absent');
}

async function cancel(endpoint: SubscriptionEndpoint, request: RouteRequest): Promise<Reply> {
  const { id } = await own(endpoint, request);
  const conditions = preconditions(request.req);
  await endpoint.platform.store.transact(
    async (tx) => {
      // Read the state inside the transaction: deliveries and other requests also change it.
      assertMemberState(conditions, memberOf(endpoint, await own(endpoint, request)));
      tx.deleteEntry(subscriptionKey(id));
    },
    { frees: true },
  );
  return { status: 204, fields: {} };
}
