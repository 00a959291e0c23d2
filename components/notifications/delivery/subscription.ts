/** Subscription documents (rules 16.1, 16.2), parsed strictly and stored with their delivery state. Checks no permissions. */
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { ForeignState } from '../../../lib/component/contract.js';
import { lwsContext } from '../../../lib/rdf/contexts.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { isTime, parseDateTime } from '../../../lib/tools/fields/date.js';
import { isObject, valuesOf } from '../../../lib/tools/json/exact-json.js';

export interface Subscription {
  readonly id: string;
  /** Value of `type` as sent by the client. Absent in subscriptions of earlier versions, which return an array. */
  readonly type?: unknown;
  readonly subscriber: string;
  readonly client?: string;
  /** Digest of the client address of the subscriber. Absent if the subscriber is a controller. */
  readonly from?: string;
  /** True if the subscriber had neither a grant nor a resource when it subscribed. */
  readonly isStranger?: boolean;
  readonly topics: readonly string[];
  readonly inbox: string;
  /** Times of creation and expiry, in milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  readonly active: boolean;
  /** Times of the last success and failure, in milliseconds since the epoch. Absent: never. */
  readonly lastSuccess?: number;
  readonly lastFailure?: number;
  /** Count of consecutive failed deliveries. */
  readonly failures: number;
}

export const standings = ['controller', 'known', 'stranger'] as const satisfies readonly CallerClass[];

/** Returns the caller class that the subscriber had when it subscribed. */
export const standingOf = ({ from, isStranger }: Subscription): CallerClass =>
  from === undefined ? 'controller' : isStranger ? 'stranger' : 'known';

/**
 * Parses an imported subscription. Returns `undefined` if it is not valid.
 * @param root root IRI of the storage
 * @param latest latest allowed expiry, in milliseconds since the epoch
 * @param hasRoom returns true if the subscriber may have another subscription
 */
export function foreignSubscription(
  value: unknown,
  id: string,
  {
    root,
    latest,
    hasRoom,
  }: { readonly root: string; readonly latest: number; readonly hasRoom: (subject: string, taken: number) => boolean },
): ForeignState | undefined {
  if (!isObject(value) || value['id'] !== id || !isWebUrl(value['inbox'])) return undefined;
  if (new URL(value['inbox']).origin === new URL(root).origin) return undefined;
  const { client: _client, from: _from, isStranger: _standing, ...kept } = value;
  const { topics, subscriber, active, created, expires, failures } = kept;
  const isTold =
    Array.isArray(topics) && topics.length <= maxTopics && topics.every((topic) => typeof topic === 'string');
  const isDated = [created, expires, failures, value['lastSuccess'] ?? 0, value['lastFailure'] ?? 0].every(isTime);
  if (!isTold || !isDated || typeof subscriber !== 'string' || typeof active !== 'boolean') return undefined;
  return {
    targets: topics,
    gives: [`${value['inbox']} is notified of changes.`],
    hasRoom,
    keptBy: (subject) => ({ ...kept, subscriber: subject, expires: Math.min(expires as number, latest) }),
  };
}

const isWebUrl = (value: unknown): value is string =>
  typeof value === 'string' && isAbsoluteIri(value) && URL.canParse(value) && /^https?:/i.test(value);

const type = 'WebhookSubscription';
const maxTopics = 64;

const malformed = (detail: string): LwsError => new LwsError('malformed-body', detail);

/**
 * Parses a subscription request.
 * @param now milliseconds since the epoch
 * @param longestMs maximum lifetime of a subscription, in milliseconds
 * @throws LwsError `malformed-body`
 */
export function readSubscription(
  document: unknown,
  now: number,
  longestMs: number,
): Pick<Subscription, 'type' | 'topics' | 'inbox' | 'expires'> {
  if (!isObject(document)) throw malformed('The subscription must be a JSON object.');
  const { type: types, topic, inbox, expires } = document;
  if (!valuesOf(types).includes(type)) throw malformed(`The type of the subscription must be ${type}.`);
  const topics = [...new Set(valuesOf(topic))];
  if (topics.length === 0 || topics.length > maxTopics)
    throw malformed(`The subscription must have 1 to ${maxTopics} topics.`);
  if (!topics.every((iri): iri is string => typeof iri === 'string' && isAbsoluteIri(iri)))
    throw malformed('Every topic must be an absolute IRI.');
  if (!isWebUrl(inbox)) throw malformed('The inbox must be an http or https URL.');
  return {
    type: types,
    topics: topics as string[],
    inbox: new URL(inbox).href,
    expires: Math.min(expiryOf(expires, now, longestMs), now + longestMs),
  };
}

function expiryOf(expires: unknown, now: number, longestMs: number): number {
  if (expires === undefined) return now + longestMs;
  const time = typeof expires === 'string' ? parseDateTime(expires) : Number.NaN;
  if (!(time > now)) throw malformed('The member expires must be a future date and time with a time zone.');
  return time;
}

/** Returns the document of a subscription, as its owner sees it. */
export function subscriptionDocument(subscription: Subscription, url: string): object {
  const { type: sentType, topics, inbox, expires, active, lastSuccess, lastFailure } = subscription;
  const date = (time: number | undefined): string | undefined =>
    time === undefined ? undefined : new Date(time).toISOString();
  return {
    '@context': lwsContext,
    id: url,
    type: sentType ?? [type],
    subscription: url,
    topic: topics,
    inbox,
    expires: date(expires),
    active,
    lastSuccess: date(lastSuccess),
    lastFailure: date(lastFailure),
  };
}
