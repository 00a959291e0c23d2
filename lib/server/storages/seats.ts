/** Limits the pending requests of one storage, with shares by caller class and address (rule 21.5). */

import type { CallerClass } from '../../authorization/authorizer.js';
import { priorityOf } from '../../authorization/client.js';
import { type LwsError, tooBusy } from '../../tools/errors.js';

/** Pending request to a storage. */
export interface Seat {
  /** Key of the client address. */
  readonly address: string;
  /** Caller class; `stranger` until authentication. */
  callerClass: CallerClass;
  /** True if the caller is authenticated, or sent no credential. */
  isJudged: boolean;
  /** True for a request to the token endpoint, whose credential is in the body. */
  readonly isForToken: boolean;
  /** Returns true while a part of the request body is missing. */
  isUnfinished(): boolean;
  /** Returns true from the first byte of the response. From then on, the request only waits for the client to read. */
  isSending(): boolean;
  /** Ends the wait for the body with an error. */
  interrupt(error: LwsError): void;
  abort(): void;
}

/** Maximum pending requests of one storage by caller class. The rest is reserved for more privileged callers. */
const shares: Readonly<Record<CallerClass, number>> = { controller: 256, known: 224, stranger: 192 };
/** Maximum pending requests per address, except for controllers. HTTP/2 allows 100 per connection. */
const maxPerAddress = 128;
/** Maximum pending requests with a credential that is being verified, in addition to those of unprivileged callers. */
const [maxUnverified, maxUnverifiedPerAddress] = [128, 64];
/** Time after which a request counts as authenticated, in milliseconds: fetching a key from a slow host may take longer. */
const judgedMs = 2_000;
/** Time for which a pending request of an unprivileged caller keeps its storage open, in milliseconds. */
const keepsOpenMs = 1_000;

const interrupted = (): LwsError => tooBusy('The server needs the slot of this unfinished request.', 5);

export class Seats {
  /** Pending requests in order of arrival, with their times of arrival. */
  private readonly taken = new Map<Seat, number>();
  /** Requests whose response waits for the client to read. They do not count for any share. */
  private readonly sending = new Set<Seat>();

  constructor(private readonly clock: () => number) {}

  /** Adds a request. @throws LwsError `too-busy` if the caller's share has no free slot, and no unfinished request to end */
  take(seat: Seat): void {
    if (this.taken.size >= maxUnverifiedPerAddress) this.makeRoom(seat);
    this.taken.set(seat, this.clock());
  }

  leave(seat: Seat): void {
    this.taken.delete(seat);
    this.sending.delete(seat);
  }

  /** True if requests keep the storage open. Unprivileged callers: for one second, and only with complete bodies. */
  get areUsed(): boolean {
    this.sortOut();
    const isLate = (seat: Seat): boolean => this.isOlder(seat, seat.isJudged ? keepsOpenMs : judgedMs);
    return (
      [...this.sending].some(({ callerClass }) => callerClass !== 'stranger') ||
      [...this.taken.keys()].some(
        (seat) => seat.callerClass !== 'stranger' || !(this.canInterrupt(seat) || isLate(seat)),
      )
    );
  }

  /** Ends unfinished requests and unread responses of unprivileged callers, so that the storage can be closed. */
  close(): void {
    this.sortOut();
    for (const seat of this.taken.keys())
      if (seat.callerClass === 'stranger' && seat.isUnfinished()) seat.interrupt(interrupted());
    for (const seat of this.sending) if (seat.callerClass === 'stranger') seat.abort();
  }

  /** Moves requests with a started response out of the shares. */
  private sortOut(): void {
    for (const seat of this.taken.keys()) {
      if (!seat.isSending()) continue;
      this.taken.delete(seat);
      this.sending.add(seat);
    }
  }

  private makeRoom(seat: Seat): void {
    this.sortOut();
    const { callerClass, address } = seat;
    const all = [...this.taken.keys()];
    if (!seat.isJudged || seat.isForToken) {
      const unverified = all.filter((each) => this.isUnverified(each));
      const here = unverified.filter((each) => each.address === address);
      if (here.length >= maxUnverifiedPerAddress) this.interruptOldest(here, callerClass);
      else if (unverified.length >= maxUnverified) this.interruptOldest(unverified, callerClass);
      return;
    }
    const alike = all.filter(
      (each) => priorityOf(each.callerClass) >= priorityOf(callerClass) && !this.isUnverified(each),
    );
    const here = alike.filter((each) => each.address === address);
    if (callerClass !== 'controller' && here.length >= maxPerAddress) this.interruptOldest(here, callerClass);
    if (callerClass === 'stranger' ? alike.length >= shares.stranger : this.taken.size >= shares[callerClass])
      this.interruptOldest(alike, callerClass);
  }

  /** Returns true while a credential is being verified, for a limited time. */
  private isUnverified(seat: Seat): boolean {
    return (!seat.isJudged || seat.isForToken) && !this.isOlder(seat, judgedMs);
  }

  private isOlder(seat: Seat, ms: number): boolean {
    return this.clock() > this.taken.get(seat)! + ms;
  }

  private interruptOldest(seats: readonly Seat[], callerClass: CallerClass): void {
    const isBelow = (seat: Seat): boolean => seat.callerClass === 'stranger' || seat.callerClass !== callerClass;
    const oldest = seats.find((seat) => isBelow(seat) && this.canInterrupt(seat));
    if (!oldest) throw tooManyPending();
    oldest.interrupt(interrupted());
    this.taken.delete(oldest);
  }

  private canInterrupt(seat: Seat): boolean {
    return seat.isUnfinished() && (seat.isJudged || this.isOlder(seat, judgedMs));
  }
}

const tooManyPending = (): LwsError => tooBusy('The storage has too many pending requests.', 2);
