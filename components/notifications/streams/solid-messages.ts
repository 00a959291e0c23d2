/** What the Solid Notifications Protocol says and asks, as documents. Pure. */
import type { Quad } from '@rdfjs/types';
import { LwsError } from '../../../lib/component/basics.js';
import { parseDateTime } from '../../../lib/component/fields.js';
import { isAbsoluteIri, rdf, xsd } from '../../../lib/component/vocabulary.js';
import type { Activity } from '../events.js';

export const notify = 'http://www.w3.org/ns/solid/notifications#';
export const channelType = `${notify}WebSocketChannel2023`;
const contexts = ['https://www.w3.org/ns/solid/notification/v1'];
const types: readonly unknown[] = ['WebSocketChannel2023', 'notify:WebSocketChannel2023', channelType];

const malformed = (detail: string): LwsError => new LwsError('malformed-body', detail);

export interface ChannelWish {
  readonly topic: string;
  /** Milliseconds since the epoch; absent: as long as it may. */
  readonly endAt?: number;
}

/**
 * What a document asks for.
 * @param now milliseconds since the epoch
 * @throws LwsError `malformed-body`
 */
export function readChannel(document: unknown, now: number): ChannelWish {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw malformed('A channel is a JSON object.');
  const { type, topic, endAt } = document as Readonly<Record<string, unknown>>;
  if (![type].flat().some((each) => types.includes(each)))
    throw malformed('The type of the channel has to be WebSocketChannel2023.');
  const [iri, ...more] = [topic].flat();
  if (typeof iri !== 'string' || more.length > 0 || !isAbsoluteIri(iri))
    throw malformed('The member topic is one absolute IRI.');
  if (endAt === undefined) return { topic: iri };
  const time = typeof endAt === 'string' ? parseDateTime(endAt) : Number.NaN;
  if (!(time > now)) throw malformed('The member endAt is no date and time with a zone, or lies in the past.');
  return { topic: iri, endAt: time };
}

/** The same of the triples of a document: the members of the one that is a channel. */
export function channelOfGraph(quads: readonly Quad[]): object {
  const channel = quads.find(({ predicate, object }) => predicate.value === rdf.type && types.includes(object.value));
  const members: Record<string, string[]> = {};
  for (const { subject, predicate, object } of quads)
    if (subject.equals(channel?.subject)) {
      const name = predicate.value === rdf.type ? 'type' : predicate.value.replace(notify, '');
      members[name] = [...(members[name] ?? []), object.value];
    }
  const { endAt, ...others } = members;
  return { ...others, ...(endAt ? { endAt: endAt.length === 1 ? endAt[0] : endAt } : {}) };
}

export const channelTurtle = ({ topic, endAt }: ChannelWish, id: string, receiveFrom: string): string =>
  `@prefix notify: <${notify}> .\n<${id}> a notify:WebSocketChannel2023 ; notify:topic <${topic}> ; notify:receiveFrom <${receiveFrom}>${
    endAt === undefined ? '' : ` ; notify:endAt "${new Date(endAt).toISOString()}"^^<${xsd.namespace}dateTime>`
  } .\n`;

/** A channel as its subscriber is notified of it. */
export const channelDocument = ({ topic, endAt }: ChannelWish, id: string, receiveFrom: string): object => ({
  '@context': contexts,
  id,
  type: channelType,
  topic,
  receiveFrom,
  ...(endAt === undefined ? {} : { endAt: new Date(endAt).toISOString() }),
});

/**
 * An event as a client of Solid reads it: what happened to the topic, and to a container's own members that they came or
 * went; `undefined` for what lies deeper, which is no business of that topic.
 */
export function messageOf(
  { id, type, object, target, origin, published }: Activity,
  topic: string,
): object | undefined {
  const said = { '@context': ['https://www.w3.org/ns/activitystreams', ...contexts], id };
  if (object.id === topic) return { ...said, type: type[0], object: object.id, published };
  if (target === topic || origin === topic)
    return { ...said, type: target === topic ? 'Add' : 'Remove', object: object.id, target: topic, published };
  return undefined;
}

/** The description of what may be subscribed to, in Turtle. */
export const solidDescription = (storage: string, subscription: string): string => `@prefix notify: <${notify}> .
@prefix pim: <http://www.w3.org/ns/pim/space#> .
<${storage}> a pim:Storage ; notify:subscription <${subscription}> .
<> notify:subscription <${subscription}> .
<${subscription}> notify:channelType notify:WebSocketChannel2023 ; notify:feature notify:endAt .
`;
