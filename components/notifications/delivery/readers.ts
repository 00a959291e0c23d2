/** Readers of events, as callers for access decisions. */
import { type Access, freshAccess } from '../../../lib/authorization/principal.js';
import { getOrMake } from '../../../lib/tools/collections.js';
import type { Activity } from './events.js';
import { subscriberOf } from './subscriptions.js';

/** Reader that is notified of committed events, if it could read the resource when the event happened. */
export interface Reader {
  readonly access: Access;
  /** Key that is equal for readers with the same access decisions. */
  readonly who: string;
  /** Sends an event to the reader. @param position position of the event in the change log */
  readonly tell: (activity: Activity, position: number) => void;
}

/** Reader of the stream of all committed events. */
export interface Follower extends Reader {
  /** Called for every event, with `undefined` if the reader cannot read it. */
  readonly tell: (activity: Activity | undefined, position: number) => void;
  readonly end: () => void;
}

/** Caller with the access of every authenticated identity. RFC 6761 reserves the host name, so no real identity has it. */
const anybody: Access = { principal: { subject: 'https://anybody.invalid/' } };

/** Access objects of subscribers and listeners: one object per caller, because decisions for one state are cached on it. */
export class Subscribers {
  private readonly known = new Map<string, Access>();

  /** Returns the access of a subscriber. @param name as returned by `subscriberOf` */
  of(name: string): Access {
    const [subject, client] = subscriberOf.read(name);
    return this.one(name, { principal: { subject, ...(client === undefined ? {} : { client }) } });
  }

  /** Returns an authenticated caller without grants. Every subscriber can read the resources that this caller can read. */
  anybody(): Access {
    return this.one('anybody', anybody);
  }

  ofReader({ who, access }: Reader): Access {
    return this.one(`reader ${who}`, access);
  }

  /** Returns a copy, never the object of a request: decisions are cached on that object too. */
  private one(name: string, access: Access): Access {
    return getOrMake(this.known, name, () => freshAccess(access));
  }
}
