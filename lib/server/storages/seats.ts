/** Pending requests of one storage, with shares by caller class and address (rule 21.5). */

import type { CallerClass } from '../../authorization/authorizer.js';
import { priorityOf } from '../../authorization/client.js';
import { type LwsError, tooBusy } from '../../errors.js';

/** One request. */
export interface Seat {
  /** Key of the client address. */
  readonly address: string;
  /** Caller class; `stranger` until authentication. */
  standing: CallerClass;
  /** Authentication is done, or there is nothing to verify. */
  isJudged: boolean;
  /** True while a part of the request body is missing. */
  isUnfinished(): boolean;
  /** Ends the wait for the body with an error. */
  interrupt(error: LwsError): void;
}

/** Maximum pending requests of one storage by caller class. The rest is reserved for more privileged callers. */
const shares: Readonly<Record<CallerClass, number>> = { controller: 256, known: 224, stranger: 192 };
/** Maximum pending requests per address, except for controllers. HTTP/2 allows 100 per connection. */
const maxPerAddress = 128;
/** Time after which a request counts as authenticated, in milliseconds: fetching a key from a slow host may take longer. */
const judgedMs = 2_000;

const interrupted = (): LwsError => tooBusy('The server needs the slot of this unfinished request.', 5);

export class Seats {
  /** In order of arrival, with times. */
  private readonly taken = new Map<Seat, number>();

  constructor(private readonly clock: () => number) {}

  /** @throws LwsError `too-busy` if the caller's share has no free slot and no unfinished request to evict */
  take(seat: Seat): void {
    if (this.taken.size >= maxPerAddress) this.makeRoom(seat);
    this.taken.set(seat, this.clock());
  }

  leave(seat: Seat): void {
    this.taken.delete(seat);
  }

  /** True if requests keep the storage open. Those of unprivileged callers do not while their bodies are incomplete. */
  get areUsed(): boolean {
    return [...this.taken.keys()].some((seat) => seat.standing !== 'stranger' || !this.canInterrupt(seat));
  }

  /** Ends unfinished requests of unprivileged callers, so that the storage can be closed. */
  close(): void {
    for (const seat of this.taken.keys())
      if (seat.standing === 'stranger' && seat.isUnfinished()) seat.interrupt(interrupted());
  }

  private makeRoom({ standing, address }: Seat): void {
    const alike = [...this.taken.keys()].filter((seat) => priorityOf(seat.standing) >= priorityOf(standing));
    const here = alike.filter((seat) => seat.address === address);
    if (standing !== 'controller' && here.length >= maxPerAddress) this.interruptOldest(here, standing);
    if (standing === 'stranger' ? alike.length >= shares.stranger : this.taken.size >= shares[standing])
      this.interruptOldest(alike, standing);
  }

  private interruptOldest(seats: readonly Seat[], standing: CallerClass): void {
    const isBelow = (seat: Seat): boolean => seat.standing === 'stranger' || seat.standing !== standing;
    const oldest = seats.find((seat) => isBelow(seat) && this.canInterrupt(seat));
    if (!oldest) throw tooBusy('The storage has too many pending requests.', 2);
    oldest.interrupt(interrupted());
    this.taken.delete(oldest);
  }

  private canInterrupt(seat: Seat): boolean {
    return seat.isUnfinished() && (seat.isJudged || this.clock() > this.taken.get(seat)! + judgedMs);
  }
}
