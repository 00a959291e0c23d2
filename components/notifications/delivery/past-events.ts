/**
 * What was committed before somebody began to listen, from the log of changes, up to the moment from which on they hear of everything as it
 * happens.
 */
import { setImmediate as breathe } from 'node:timers/promises';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { LwsError } from '../../../lib/errors.js';
import type { LoggedEvent } from '../../../lib/storage/log/change-entry.js';
import { type Activity, activityOf, announcementOf } from './events.js';

export interface PastOptions {
  readonly platform: Pick<Platform, 'store' | 'authorizer' | 'rootIri'>;
  readonly access: Access;
  readonly includeActor: boolean;
  /** Whether a resource is one that is listened to. */
  readonly covers: (iri: string) => boolean;
  /** Whether announcements are told as well, which are for controllers. */
  readonly announcements: boolean;
  /** Events that are looked at; absent: all. */
  readonly most?: number;
}

export class PastEvents {
  /** Everything up to this position was told, or is not to be. */
  at: number;
  /** What happens from here on is told as it happens. */
  isOver: boolean;
  private looked = 0;

  /** @param after what comes after this position is told; absent: what comes after `now` alone */
  constructor(
    private readonly options: PastOptions,
    after: number | undefined,
    now: number,
  ) {
    this.at = after ?? now;
    this.isOver = after === undefined;
  }

  /** Whether an event that is told as it happens is not told otherwise. */
  leaves(position: number): boolean {
    return this.isOver && position > this.at;
  }

  /**
   * Tells what the caller may read now, in order.
   * @param tell waits while its reader does
   * @param goesOn asked before every block of events
   * @throws LwsError `gone` when the log does not have it any more, or has more than `most`
   */
  async tellAll(
    tell: (activity: Activity, position: number) => Promise<void>,
    goesOn: () => boolean | Promise<boolean>,
  ): Promise<void> {
    const { changes } = this.options.platform.store;
    while (await goesOn()) {
      const events = await changes.next(this.at);
      // In the same moment, or something that is committed in between would be told twice or never.
      this.isOver = events.length === 0 && this.at >= changes.committed;
      if (this.isOver) return;
      // A new object for each block: decisions are remembered with it, and may change.
      const access = { ...this.options.access };
      for (const event of events) {
        const activity = await this.read(event, access);
        if (activity) await tell(activity, event.position);
        this.at = event.position;
      }
      this.assertFew(events.length);
      await breathe();
    }
  }

  /** Nothing more of the past is told. */
  end(): void {
    this.at = this.options.platform.store.changes.committed;
    this.isOver = true;
  }

  private assertFew(count: number): void {
    this.looked += count;
    if (this.looked > (this.options.most ?? Number.POSITIVE_INFINITY))
      throw new LwsError('gone', `More than ${this.options.most} events happened since.`);
  }

  /** @returns `undefined` for what the caller may not read, or did not ask for */
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
