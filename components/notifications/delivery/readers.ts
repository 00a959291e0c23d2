/** Those who are told of events, as decisions know them. */
import type { Access } from '../../../lib/authorization/principal.js';
import type { Activity } from './events.js';
import { subscriberOf } from './subscriptions.js';

/** Somebody who is notified of committed events that it could read at their time. */
export interface Reader {
  readonly access: Access;
  /** The same for those about whom decisions are the same. */
  readonly who: string;
  /** @param position of the event in the log of changes */
  readonly tell: (activity: Activity, position: number) => void;
}

/** Somebody who reads the stream of all committed events. */
export interface Follower extends Reader {
  /** Notified of every commit; `undefined` where it may not know of what. */
  readonly tell: (activity: Activity | undefined, position: number) => void;
  readonly end: () => void;
}

/** Who reads what any identity may; nobody is named so (RFC 6761 reserves the host). */
const anybody: Access = { principal: { subject: 'https://anybody.invalid/' } };

/** Those who subscribed or listen, each one object, to which its decisions on one state are memoised. */
export class Subscribers {
  private readonly known = new Map<string, Access>();

  /** @param name as `subscriberOf` gave it */
  of(name: string): Access {
    const [subject, client] = subscriberOf.read(name);
    return this.one(name, { principal: { subject, ...(client === undefined ? {} : { client }) } });
  }

  /** Somebody whom nobody named: what it may read, everybody may who subscribed. */
  anybody(): Access {
    return this.one('anybody', anybody);
  }

  ofReader({ who, access }: Reader): Access {
    return this.one(`reader ${who}`, access);
  }

  /** Never the object of a request, with which decisions are remembered as well. */
  private one(name: string, access: Access): Access {
    const known = this.known.get(name) ?? { ...access };
    this.known.set(name, known);
    return known;
  }
}
