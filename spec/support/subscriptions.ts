/** Subscriptions as clients create them (rule 16.1). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { type Behaviour, type Delivery, type Description, expectSigned, type InboxHost } from './inbox.js';
import { lwsContext, lwsJson } from './search.js';

export interface Subscription {
  readonly '@context': unknown;
  readonly id: string;
  readonly type: unknown;
  readonly subscription: string;
  readonly topic: readonly string[];
  readonly inbox: string;
  readonly expires: string;
  readonly active: boolean;
  readonly lastSuccess?: unknown;
  readonly lastFailure?: unknown;
}

export const subscriptionsOf = (s: StorageUnderTest): string => `${s.root}.lws/subscriptions`;

type Changes = Readonly<Record<string, unknown>>;
const documentOf = (topic: unknown, inbox: unknown, changes: Changes): string =>
  JSON.stringify({ '@context': lwsContext, type: 'WebhookSubscription', topic, inbox, ...changes });

/** Requests a subscription. @param changes overrides of the members, `undefined` removes one */
export const ask = (
  s: StorageUnderTest,
  topic: unknown,
  inbox: unknown,
  by?: Sender,
  changes: Changes = {},
  type = lwsJson,
): Promise<Answer> =>
  s.send('POST', subscriptionsOf(s), { 'Content-Type': type }, documentOf(topic, inbox, changes), by);

export function subscriptionIn(answer: Answer, status = 200): Subscription {
  expect(answer.status, answer.text).to.equal(status);
  return JSON.parse(answer.text) as Subscription;
}

/** Creates a subscription. */
export const subscribe = async (...args: Parameters<typeof ask>): Promise<Subscription> =>
  subscriptionIn(await ask(...args), 201);

export const readSubscription = async (s: StorageUnderTest, iri: string, by?: Sender): Promise<Subscription> =>
  subscriptionIn(await s.send('GET', iri, {}, undefined, by));

export async function cancel(s: StorageUnderTest, iri: string, by?: Sender): Promise<void> {
  const answer = await s.send('DELETE', iri, {}, undefined, by);
  expect(answer.status, answer.text).to.equal(204);
}

/** Asserts that deliveries are signed with a key of the storage. */
export async function expectAllSigned(s: StorageUnderTest, deliveries: readonly Delivery[]): Promise<void> {
  expect(deliveries).not.to.deep.equal([]);
  const { text } = await s.send('GET', `${s.root}.lws/storage-description`, { Accept: 'application/lws+cid' });
  const description = JSON.parse(text) as Description;
  for (const delivery of deliveries) await expectSigned(delivery, description);
}

export interface Watched {
  readonly container: string;
  readonly inbox: string;
  readonly subscription: Subscription;
  /** Creates the number of resources. @returns the expected notifications */
  make(count?: number): Promise<string[]>;
}

/** Creates a container and an inbox subscribed to it. */
export async function watchAt(
  at: InboxHost,
  s: StorageUnderTest,
  behaviour?: Behaviour,
  suffix = '',
): Promise<Watched> {
  const container = await s.container();
  const inbox = at.inbox(behaviour) + suffix;
  if (suffix && behaviour) at.behave(inbox, behaviour);
  const subscription = await subscribe(s, container, inbox);
  let made = 0;
  const make = async (count = 1): Promise<string[]> => {
    const iris: string[] = [];
    for (let i = 0; i < count; i++) iris.push((await s.stored('text/plain', 'x', `${container}r${made++}`)).iri);
    return iris.map((iri) => `Create ${iri}`);
  };
  return { container, inbox, subscription, make };
}
