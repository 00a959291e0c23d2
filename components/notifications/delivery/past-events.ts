/** Past events from the log of changes, up to the position after which a stream gets live events. */

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
  /** True if the reader wants events of a resource. */
  readonly covers: (iri: string) => boolean;
  /** Include announcements, which are for controllers. */
  readonly announcements: boolean;
  /** Maximum events to read. Absent: all. */
  readonly most?: number;
}

export class PastEvents {
  /** Position up to which events are done. */
  at: number;
  /** True when all later events arrive live. */
  isOver: boolean;
  private looked = 0;

  /** @param after position after which events are sent, absent: only those after `now` */
  constructor(
    private readonly options: PastOptions,
    after: number | undefined,
    now: number,
  ) {
    this.at = after ?? now;
    this.isOver = after === undefined;
  }

  /** Returns true if this object will send the event, so that the live stream must not. */
  leaves(position: number): boolean {
    return this.isOver && position > this.at;
  }

  /**
   * Sends past events that the caller can read now, in order.
   * @param tell waits for its reader
   * @param goesOn called before every block of events
   * @throws LwsError `gone` if the log no longer reaches back, or has more than `most`
   */
  async tellAll(
    tell: (activity: Activity, position: number) => Promise<void>,
    goesOn: () => boolean | Promise<boolean>,
  ): Promise<void> {
    const { changes } = this.options.platform.store;
    while (await goesOn()) {
      const events = await changes.next(this.at);
      // Set synchronously: an event committed in between would be sent twice or never.
      this.isOver = events.length === 0 && this.at >= changes.committed;
      if (this.isOver) return;
      // A new object for each block: decisions are cached on it and may change.
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

  /** Stops the past events. */
  end(): void {
    this.at = this.options.platform.store.changes.committed;
    this.isOver = true;
  }

  private assertFew(count: number): void {
    this.looked += count;
    if (this.looked > (this.options.most ?? Number.POSITIVE_INFINITY))
      throw new LwsError('gone', `More than ${this.options.most} events happened since then.`);
  }

  /** @returns `undefined` if the caller cannot read the event or did not ask for it */
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
