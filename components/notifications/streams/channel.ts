/** A channel: what callers with the same rights hear of the same topics. */
import type { Access } from '../../../lib/component/access.js';
import type { Activity } from '../events.js';
import type { Reader } from '../readers.js';

/** One connection. */
export interface Listener {
  hear(activity: Activity, position: number): void;
  /** Called now and then, so that whoever is in between sees that it is open. */
  beat(): void;
  /** Nothing more comes. */
  end(): void;
}

export class Channel implements Reader {
  readonly listeners = new Set<Listener>();
  /** Those who are about to listen. */
  expected = 0;

  readonly key: string;
  readonly who: string;
  readonly access: Access;
  readonly topics: readonly string[];

  constructor({ key, who, access, topics }: Pick<Channel, 'key' | 'who' | 'access' | 'topics'>) {
    this.key = key;
    this.who = who;
    this.access = access;
    this.topics = topics;
  }

  readonly tell = (activity: Activity, position: number): void => {
    for (const listener of [...this.listeners]) listener.hear(activity, position);
  };
}
