/**
 * Open live update channels, by topic. Each event is authorized in its transaction. A channel ends if a topic is unreadable.
 */

import { ancestorsOf } from '../../../lib/authorization/authorizer.js';
import { requireAccess } from '../../../lib/authorization/guard.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import type { Activity } from '../delivery/events.js';
import type { Reader } from '../delivery/readers.js';

/** One connection of a client. */
export interface Listener {
  hear(activity: Activity, position: number): void;
  /** Sends a heartbeat, so that proxies do not close an idle connection. */
  beat(): void;
  /** Called after the last event. */
  end(): void;
}

/** Shared stream for listeners with the same topics and the same access. */
export interface Channel extends Reader {
  readonly key: string;
  readonly topics: readonly string[];
  readonly listeners: Set<Listener>;
  /** Count of listeners that are about to be added. */
  expected: number;
}

/** Interval of heartbeats, in milliseconds. */
const beatMs = 15_000;
/** Minimum interval between access checks of channels, in milliseconds. The first commit afterwards triggers a check. */
const lookMs = 200;
/** Maximum count of channels that are checked concurrently. */
const together = 50;

export class Channels {
  private readonly byKey = new Map<string, Channel>();
  private readonly byTopic = new Map<string, Set<Channel>>();
  /** Channels whose access check is in progress. If the value is true, the check is repeated when it ends. */
  private readonly looking = new Map<Channel, boolean>();
  private readonly timer: NodeJS.Timeout;
  private nextLook: NodeJS.Timeout | undefined;
  private lastLook = Number.NEGATIVE_INFINITY;
  private isEnded = false;

  constructor(private readonly platform: Platform) {
    this.timer = setInterval(() => this.beat(), beatMs).unref();
  }

  /** Checks the access of the channels. Called after every commit, because a commit may revoke access. */
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

  get areNone(): boolean {
    return this.byTopic.size === 0;
  }

  /** Returns the channels with a topic that covers the resource. */
  covering(iri: string): Iterable<Channel> {
    if (this.byTopic.size === 0) return [];
    const found = new Set<Channel>();
    for (const topic of [iri, ...ancestorsOf(iri, this.platform.rootIri)])
      for (const channel of this.byTopic.get(topic) ?? []) found.add(channel);
    return found;
  }

  /**
   * Opens a channel, and adds a listener after all earlier events are committed.
   * @param listen returns the listener. Called after the last step that can fail, with the position after which the channel
   * sends all events
   * @throws LwsError if the caller cannot read a topic, `too-busy` while the server stops
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
        if (this.isEnded) throw new LwsError('too-busy', 'The server is shutting down.');
        expecting = this.channelOf(access, topics);
        expecting.expected++;
        return { channel: expecting, position: changes.mark() };
      });
      if (this.byKey.get(channel.key) !== channel)
        throw new LwsError('too-busy', 'The access to a topic has just changed. Retry.');
      channel.listeners.add(listen(channel, Math.max(position, changes.committed)));
    } finally {
      if (expecting) {
        expecting.expected--;
        this.forget(expecting);
      }
    }
  }

  /** Removes a listener. */
  leave(channel: Channel, listener: Listener): void {
    channel.listeners.delete(listener);
    this.forget(channel);
  }

  private forget(channel: Channel): void {
    if (channel.listeners.size === 0 && channel.expected === 0) this.close(channel);
  }

  /** Closes all channels, and rejects new channels. */
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
    // Access can also end without a commit: grants expire, and remote groups change.
    this.committed();
  }

  private look(): void {
    this.lastLook = performance.now();
    const channels = [...this.byKey.values()];
    const part = async (): Promise<void> => {
      for (;;) {
        for (const channel of channels.splice(0, together)) void this.lookAt(channel);
        if (channels.length === 0) return;
        await yieldToEventLoop();
      }
    };
    void part();
  }

  /** Checks the access of a channel. Runs concurrently, so that a slow remote group does not delay other channels. */
  private async lookAt(channel: Channel): Promise<void> {
    if (this.looking.has(channel)) return void this.looking.set(channel, true);
    this.looking.set(channel, false);
    try {
      if (!(await this.mayGoOn(channel))) this.close(channel);
    } catch (error) {
      // If access cannot be determined, close the channel.
      this.platform.log.error({ err: error }, 'access to a stream could not be checked, closing it');
      this.close(channel);
    }
    const again = this.looking.get(channel);
    this.looking.delete(channel);
    if (again) void this.lookAt(channel);
  }

  private async mayGoOn({ access: kept, topics }: Channel): Promise<boolean> {
    const { store, authorizer } = this.platform;
    // Use a new object, because decisions are cached on the object.
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
