/**
 * A channel: what callers with the same rights hear of the same topics, and the last of it, for those who come back. It
 * must not know how it goes over the wire.
 */
import { randomBytes } from 'node:crypto';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Activity } from '../events.js';
import type { Reader } from '../outbox.js';

/** An event, with the id by which a client says that it has it. */
export interface Heard {
  readonly id: string;
  readonly activity: Activity;
}

/** One connection. */
export interface Listener {
  hear(event: Heard): void;
  /** Called now and then, so that whoever is in between sees that it is open. */
  beat(): void;
  /** Nothing more comes. */
  end(): void;
}

/** Events that a channel remembers, and their characters. */
const maxRemembered = 100;
const maxCharacters = 64 << 10;

export class Channel implements Reader {
  /** Of this channel alone: the ids of another one, or of an earlier process, are unknown to it. */
  private readonly name = randomBytes(9).toString('base64url');
  private count = 0;
  private readonly remembered: { readonly event: Heard; readonly length: number }[] = [];
  private characters = 0;
  readonly listeners = new Set<Listener>();
  /** When the last listener left, in milliseconds since the epoch. */
  idleSince = 0;

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

  /** The id of the last event so far. */
  get last(): string {
    return this.idOf(this.count);
  }

  readonly tell = (activity: Activity): void => {
    this.count += 1;
    const event = { id: this.last, activity };
    const { length } = JSON.stringify(activity);
    this.remembered.push({ event, length });
    this.characters += length;
    while (this.remembered.length > maxRemembered || this.characters > maxCharacters)
      this.characters -= this.remembered.shift()!.length;
    for (const listener of [...this.listeners]) listener.hear(event);
  };

  /** The events after one; `undefined` when not all of them are known any more. */
  after(id: string): readonly Heard[] | undefined {
    const missed = [...this.remembered.map(({ event }) => event)];
    if (id === this.idOf(this.count - missed.length)) return missed;
    const at = missed.findIndex((event) => event.id === id);
    return at < 0 ? undefined : missed.slice(at + 1);
  }

  private idOf(count: number): string {
    return `${this.name}.${count}`;
  }
}
