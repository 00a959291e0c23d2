/** Sends past events from the change log, up to the position at which a stream continues with live events. */

import { type Access, freshAccess } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import type { LoggedEvent } from '../../../lib/storage/log/change-entry.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { yieldToEventLoop } from '../../../lib/tools/event-loop.js';
import { type Activity, activityOf, announcementOf } from './events.js';

export interface PastOptions {
  readonly platform: Pick<Platform, 'store' | 'authorizer' | 'rootIri'>;
  readonly access: Access;
  readonly includeActor: boolean;
  /** Returns true if the reader wants events of a resource. */
  readonly covers: (iri: string) => boolean;
  /** True to include announcements, which are only for controllers. */
  readonly announcements: boolean;
  /** Maximum events that are read. Absent: no limit. */
  readonly most?: number;
}

export class PastEvents {
  /** Position of the last event that was processed. */
  at: number;
  /** True if all later events arrive live. */
  isOver: boolean;
  private looked = 0;

  /** @param after position after which events are sent. Absent: only events after the position `now` */
  constructor(
    private readonly options: PastOptions,
    after: number | undefined,
    now: number,
  ) {
    this.at = after ?? now;
    this.isOver = after === undefined;
  }

  /** Returns true if the live stream must send the event, because this object does not. */
  leaves(position: number): boolean {
    return this.isOver && position > this.at;
  }

  /**
   * Sends the past events that the caller can read now, in order.
   * @param tell sends an event. Its promise resolves when the reader can accept more
   * @param goesOn called before every block of events
   * @throws LwsError `gone` if the log no longer reaches back, or has more than `most` events
   */
  async tellAll(
    tell: (activity: Activity, position: number) => Promise<void>,
    goesOn: () => boolean | Promise<boolean>,
  ): Promise<void> {
    const { changes } = this.options.platform.store;
    while (await goesOn()) {
      const events = await changes.next(this.at);
      // Set synchronously with the check: otherwise an event that is committed in between would be sent twice or never.
      this.isOver = events.length === 0 && this.at >= changes.committed;
      if (this.isOver) return;
      // Use a new object for each block: decisions are cached on it, and permissions may change.
      const access = freshAccess(this.options.access);
      for (const event of events) {
        const activity = await this.read(event, access);
        if (activity) await tell(activity, event.position);
        this.at = event.position;
      }
      this.assertFew(events.length);
      await yieldToEventLoop();
    }
  }

  /** Stops sending past events. Later events arrive live. */
  end(): void {
    this.at = this.options.platform.store.changes.committed;
    this.isOver = true;
  }

  private assertFew(count: number): void {
    this.looked += count;
    if (this.looked > (this.options.most ?? Number.POSITIVE_INFINITY))
      throw new LwsError('gone', `More than ${this.options.most} events happened since then.`);
  }

  /** Returns the activity of an event, or `undefined` if the caller cannot read it or did not request it. */
  private async read({ what, actor: who }: LoggedEvent, access: Access): Promise<Activity | undefined> {
    const { platform, covers, announcements, includeActor } = this.options;
    const { store, authorizer, rootIri: storage } = platform;
    const context = { storage, actor: includeActor ? who : undefined };
    if ('id' in what) return announcements ? announcementOf(what, context) : undefined;
    const { iri, owner } = (what.after ?? what.before)!;
    if (!covers(iri)) return undefined;
    const record = store.record(iri);
    const question = { view: store, access, mode: 'read', iri } as const;
    const allowed = await authorizer.allows(
      record ? { ...question, record } : { ...question, gone: { owner, readers: what.readers } },
    );
    return allowed ? activityOf(what, context) : undefined;
  }
}
