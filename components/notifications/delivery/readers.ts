/** Readers of events, in terms of access decisions. */
import { type Access, freshAccess } from '../../../lib/authorization/principal.js';
import { getOrMake } from '../../../lib/tools/collections.js';
import type { Activity } from './events.js';
import { subscriberOf } from './subscriptions.js';

/** Reader that is notified of committed events which it could read at their time. */
export interface Reader {
  readonly access: Access;
  /** Equal for readers with equal decisions. */
  readonly who: string;
  /** @param position position of the event in the log of changes */
  readonly tell: (activity: Activity, position: number) => void;
}

/** Reader of the stream of all committed events. */
export interface Follower extends Reader {
  /** Called for every commit. With `undefined` if the follower cannot read the event. */
  readonly tell: (activity: Activity | undefined, position: number) => void;
  readonly end: () => void;
}

/** Caller with the access of any identity. RFC 6761 reserves the host, so it names no real one. */
const anybody: Access = { principal: { subject: 'https://anybody.invalid/' } };

/** Accesses of subscribers and listeners, one object for each, on which its decisions for one state are cached. */
export class Subscribers {
  private readonly known = new Map<string, Access>();

  /** @param name as returned by `subscriberOf` */
  of(name: string): Access {
    const [subject, client] = subscriberOf.read(name);
    return this.one(name, { principal: { subject, ...(client === undefined ? {} : { client }) } });
  }

  /** Returns an authenticated caller without grants: everything that it can read, every subscriber can. */
  anybody(): Access {
    return this.one('anybody', anybody);
  }

  ofReader({ who, access }: Reader): Access {
    return this.one(`reader ${who}`, access);
  }

  /** Never the object of a request, on which decisions are cached, too. */
  private one(name: string, access: Access): Access {
    return getOrMake(this.known, name, () => freshAccess(access));
  }
}
