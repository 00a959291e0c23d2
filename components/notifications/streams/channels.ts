/**
 * The channels that somebody listens to, by topic. Each event is authorized in its own transaction; a channel ends when one of its topics
 * can no longer be read.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import { ancestorsOf } from '../../../lib/authorization/authorizer.js';
import { requireAccess } from '../../../lib/authorization/guard.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { LwsError } from '../../../lib/errors.js';
import type { Activity } from '../delivery/events.js';
import type { Reader } from '../delivery/readers.js';

/** One connection. */
export interface Listener {
  hear(activity: Activity, position: number): void;
  /** Called now and then, so that whoever is in between sees that it is open. */
  beat(): void;
  /** Nothing more comes. */
  end(): void;
}

/** What callers with the same rights hear of the same topics. */
export interface Channel extends Reader {
  readonly key: string;
  readonly topics: readonly string[];
  readonly listeners: Set<Listener>;
  /** Those who are about to listen. */
  expected: number;
}

/** Milliseconds between signs of life. */
const beatMs = 15_000;
/** Milliseconds between looks at all topics: after a commit at once, and not after each of many. */
const lookMs = 200;
/** Channels that are looked at together. */
const together = 50;

export class Channels {
  private readonly byKey = new Map<string, Channel>();
  private readonly byTopic = new Map<string, Set<Channel>>();
  /** Channels that are being looked at, and whether they have to be again. */
  private readonly looking = new Map<Channel, boolean>();
  private readonly timer: NodeJS.Timeout;
  private nextLook: NodeJS.Timeout | undefined;
  private lastLook = Number.NEGATIVE_INFINITY;
  private isEnded = false;

  constructor(private readonly platform: Platform) {
    this.timer = setInterval(() => this.beat(), beatMs).unref();
  }

  /** Called after every commit: it may have taken somebody's access. */
  readonly committed = (): void => {
    if (this.nextLook || this.byKey.size === 0) return;
    const wait = this.lastLook + lookMs - performance.now();
    if (wait <= 0) this.look();
    else
      this.nextLook = setTimeout(() => {
        this.nextLook = undefined;
        this.look();
      }, wait).unref();
  };

  /** The channels that hear of a resource. */
  covering(iri: string): Iterable<Channel> {
    if (this.byTopic.size === 0) return [];
    const found = new Set<Channel>();
    for (const topic of [iri, ...ancestorsOf(iri, this.platform.rootIri)])
      for (const channel of this.byTopic.get(topic) ?? []) found.add(channel);
    return found;
  }

  /**
   * Opens a channel, and listens when everything is committed that it does not tell of.
   * @param listen gives the listener; called when nothing can refuse any more, with the position after which the channel tells all
   * @throws LwsError as the caller may learn of the topics; `too-busy` when the server stops
   */
  async open(
    access: Access,
    topics: readonly string[],
    listen: (channel: Channel, position: number) => Listener,
  ): Promise<void> {
    const { platform } = this;
    for (const topic of topics) await requireAccess(platform, platform.store, access, 'read', topic);
    const { changes } = platform.store;
    let expecting: Channel | undefined;
    try {
      const { channel, position } = await platform.store.transact(async (tx) => {
        for (const topic of topics) await requireAccess(platform, tx, access, 'read', topic);
        if (this.isEnded) throw new LwsError('too-busy', 'The server stops.');
        expecting = this.channelOf(access, topics);
        expecting.expected++;
        return { channel: expecting, position: changes.mark() };
      });
      if (this.byKey.get(channel.key) !== channel)
        throw new LwsError('too-busy', 'The access to a topic just changed.');
      channel.listeners.add(listen(channel, Math.max(position, changes.committed)));
    } finally {
      if (expecting) {
        expecting.expected--;
        this.forget(expecting);
      }
    }
  }

  /** A listener goes away. */
  leave(channel: Channel, listener: Listener): void {
    channel.listeners.delete(listener);
    this.forget(channel);
  }

  private forget(channel: Channel): void {
    if (channel.listeners.size === 0 && channel.expected === 0) this.close(channel);
  }

  /** Ends all, and takes no further one. */
  end(): void {
    this.isEnded = true;
    clearInterval(this.timer);
    clearTimeout(this.nextLook);
    for (const channel of [...this.byKey.values()]) this.close(channel);
  }

  private channelOf({ principal, origin, purpose }: Access, topics: readonly string[]): Channel {
    const { subject, client, issuer } = principal ?? {};
    const sorted = [...topics].sort();
    const who = JSON.stringify([subject, client, issuer, origin, purpose]);
    const key = JSON.stringify([who, sorted]);
    const known = this.byKey.get(key);
    if (known) return known;
    const access = {
      ...(principal === undefined ? {} : { principal }),
      ...(origin === undefined ? {} : { origin }),
      ...(purpose === undefined ? {} : { purpose }),
    };
    const listeners = new Set<Listener>();
    const tell = (activity: Activity, position: number): void => {
      for (const listener of [...listeners]) listener.hear(activity, position);
    };
    const channel: Channel = { key, who, access, topics: sorted, listeners, expected: 0, tell };
    this.byKey.set(key, channel);
    for (const topic of sorted) this.byTopic.set(topic, (this.byTopic.get(topic) ?? new Set()).add(channel));
    return channel;
  }

  private close(channel: Channel): void {
    if (this.byKey.get(channel.key) !== channel) return;
    this.byKey.delete(channel.key);
    for (const topic of channel.topics) {
      const channels = this.byTopic.get(topic);
      channels?.delete(channel);
      if (channels?.size === 0) this.byTopic.delete(topic);
    }
    for (const listener of [...channel.listeners]) listener.end();
    channel.listeners.clear();
  }

  private beat(): void {
    for (const { listeners } of this.byKey.values()) for (const listener of [...listeners]) listener.beat();
    // Grants end and groups change without a commit.
    this.committed();
  }

  private look(): void {
    this.lastLook = performance.now();
    const channels = [...this.byKey.values()];
    const part = async (): Promise<void> => {
      for (;;) {
        for (const channel of channels.splice(0, together)) void this.lookAt(channel);
        if (channels.length === 0) return;
        await breathe();
      }
    };
    void part();
  }

  /** One that waits for a group holds up no other. */
  private async lookAt(channel: Channel): Promise<void> {
    if (this.looking.has(channel)) return void this.looking.set(channel, true);
    this.looking.set(channel, false);
    try {
      if (!(await this.mayGoOn(channel))) this.close(channel);
    } catch (error) {
      // What cannot be decided is not told.
      this.platform.log.error({ err: error }, 'whether a stream may go on could not be decided, and it ends');
      this.close(channel);
    }
    const again = this.looking.get(channel);
    this.looking.delete(channel);
    if (again) void this.lookAt(channel);
  }

  private async mayGoOn({ access: kept, topics }: Channel): Promise<boolean> {
    const { store, authorizer } = this.platform;
    // A new object: decisions are remembered with it.
    const access = { ...kept };
    for (const iri of topics) {
      const record = store.record(iri);
      if (!record) return false;
      const decision = authorizer.allows({ view: store, access, mode: 'read', iri, record });
      if (!(typeof decision === 'boolean' ? decision : await decision)) return false;
    }
    return true;
  }
}
