/**
 * Subscriptions as documents (rules 16.1, 16.2): read strictly, kept with how their deliveries went. Pure; it must not know who
 * may read what, nor how anything is delivered.
 */
import type { CallerClass } from '../../../lib/authorization/authorizer.js';
import type { ForeignState } from '../../../lib/component/contract.js';
import { LwsError } from '../../../lib/errors.js';
import { isTime, parseDateTime } from '../../../lib/fields/date.js';
import { isObject, valuesOf } from '../../../lib/json/exact-json.js';
import { lwsContext } from '../../../lib/rdf/contexts.js';
import { isAbsoluteIri } from '../../../lib/rdf/iri.js';

export interface Subscription {
  readonly id: string;
  /** As it was sent; absent: in an array, as all were once. */
  readonly type?: unknown;
  readonly subscriber: string;
  readonly client?: string;
  /** A digest of the address that a stranger's came from; absent for those of controllers. */
  readonly from?: string;
  /** Nobody had given the subscriber anything, and it owned nothing, when it subscribed. */
  readonly isStranger?: boolean;
  readonly topics: readonly string[];
  readonly inbox: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires: number;
  readonly active: boolean;
  /** Milliseconds since the epoch; absent: never. */
  readonly lastSuccess?: number;
  readonly lastFailure?: number;
  /** Deliveries that failed since the last one that did not. */
  readonly failures: number;
}

export const standings = ['controller', 'known', 'stranger'] as const satisfies readonly CallerClass[];

/** What its subscriber was when it subscribed. */
export const standingOf = ({ from, isStranger }: Subscription): CallerClass =>
  from === undefined ? 'controller' : isStranger ? 'stranger' : 'known';

/** What a value from elsewhere would be with that name; `undefined` where it is none. @param limits as of those that are made here */
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
    gives: [`${value['inbox']}: is told of changes.`],
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
 * What a document asks for.
 * @param now milliseconds since the epoch
 * @param longestMs how long a subscription may live
 * @throws LwsError `malformed-body`
 */
export function readSubscription(
  document: unknown,
  now: number,
  longestMs: number,
): Pick<Subscription, 'type' | 'topics' | 'inbox' | 'expires'> {
  if (!isObject(document)) throw malformed('A subscription is a JSON object.');
  const { type: types, topic, inbox, expires } = document;
  if (!valuesOf(types).includes(type)) throw malformed(`The type of the subscription has to be ${type}.`);
  const topics = [...new Set(valuesOf(topic))];
  if (topics.length === 0 || topics.length > maxTopics) throw malformed(`A subscription has 1 to ${maxTopics} topics.`);
  if (!topics.every((iri): iri is string => typeof iri === 'string' && isAbsoluteIri(iri)))
    throw malformed('Every topic is an absolute IRI.');
  if (!isWebUrl(inbox)) throw malformed('The inbox is no http or https URL.');
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
  if (!(time > now)) throw malformed('The member expires is no date and time with a zone, or lies in the past.');
  return time;
}

/** The document of a subscription, as its owner sees it. */
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
