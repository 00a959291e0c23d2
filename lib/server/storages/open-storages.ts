/**
 * The storages that are open: each is opened by the first request for it, and closed when nobody asks, or another one needs its place. It must
 * not know addresses nor records.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LwsError, tooBusy } from '../../errors.js';
import type { OpenStorage } from '../storage/open-storage.js';
import { OpeningTurns, type Turn } from './opening-turns.js';
import { type Seat, Seats } from './seats.js';

export interface ResidentsOptions {
  readonly maxOpen: number;
  /** Storages that may be open beside these until it is known whether their callers have rights there. */
  readonly maxGuests: number;
  readonly idleMs: number;
  readonly clock: () => number;
  /** Whether the storage of a name may be opened. */
  readonly isReady: (name: string) => boolean;
  /** Opens the storage of a name. */
  readonly open: (name: string) => Promise<OpenStorage>;
  /** The file that is there while a storage is open, or was when the process ended. */
  readonly markOf: (name: string) => string;
  readonly onFailure: (name: string, error: unknown) => void;
}

interface Resident {
  /** Settles when it is open. */
  opening: Promise<OpenStorage>;
  storage?: OpenStorage;
  /** Settles when it is closed; absent: it is not being closed. */
  closing?: Promise<void>;
  readonly seats: Seats;
  openedAt: number;
  usedAt: number;
  /** When a caller other than a stranger last sent a request. */
  knownAt: number;
  /** Takes back that the opening counts for an address. */
  paid: (() => unknown) | undefined;
}

/** Storages that are opened at once. */
const maxOpening = 4;
/** Milliseconds that a request waits for a storage. */
const waitMs = 10_000;
/** Milliseconds between looks for room when there is none, and how many looks. */
const [roomMs, maxLooks] = [50, 10];
/** Milliseconds after which one that could not be opened is tried again. */
const failedMs = 30_000;
/** Milliseconds that a storage which was just opened stays open beside those that have work; and one that others than strangers used. */
const [leastMs, knownMs] = [10_000, 60_000];
const lookMs = 5_000;
/** Milliseconds that requests under way get to end. */
const endMs = 10_000;

export class OpenStorages {
  private readonly residents = new Map<string, Resident>();
  private readonly failures = new Map<string, number>();
  /** Names of those that wait for room to do what they owe. */
  private readonly asleep = new Set<string>();
  private readonly queue: (() => void)[] = [];
  private opening = 0;
  private readonly turns = new OpeningTurns(waitMs);
  private readonly timer: NodeJS.Timeout;
  private isEnding = false;
  readonly counts = { opened: 0, evicted: 0 };

  constructor(private readonly options: ResidentsOptions) {
    this.timer = setInterval(() => this.closeIdle(), lookMs).unref();
  }

  get open(): number {
    return this.residents.size;
  }

  isOpen(name: string): boolean {
    const { storage, closing } = this.residents.get(name) ?? {};
    return storage !== undefined && !closing;
  }

  /**
   * Has a storage serve a request.
   * @param seat the place of the request; absent: no request waits
   * @param paid takes back that an opening counts for an address
   * @returns the storage, and what is to be called once when the request has ended
   * @throws LwsError `too-busy`
   */
  async use(
    name: string,
    seat?: Seat,
    paid?: Resident['paid'],
  ): Promise<{ readonly storage: OpenStorage; readonly end: () => void }> {
    let owed = paid;
    for (;;) {
      const there = this.residents.get(name);
      if (there?.closing) {
        await there.closing;
        continue;
      }
      if (there) {
        owed?.();
        owed = undefined;
        // At once: what nobody uses may be closed.
        if (seat) there.seats.take(seat);
      }
      const resident = there ?? (await this.openFor(name, seat, owed));
      if (!resident) continue;
      owed = undefined;
      const end = (): void => {
        if (seat) resident.seats.leave(seat);
        resident.usedAt = this.options.clock();
        this.trim(knownMs);
      };
      try {
        const storage = resident.storage ?? (await this.soon(resident.opening));
        if (!resident.closing) return { storage, end };
      } catch (error) {
        end();
        throw error;
      }
      end();
    }
  }

  /**
   * Begins to open a storage, and takes a place in it.
   * @returns undefined if another request began meanwhile
   * @throws LwsError `too-busy`, and the opening does not count
   */
  private async openFor(name: string, seat: Seat | undefined, paid: Resident['paid']): Promise<Resident | undefined> {
    const isKnown = seat !== undefined && seat.standing !== 'stranger';
    let turn: Turn | undefined;
    try {
      if (seat && !isKnown) {
        const taken = this.turns.take(seat.address);
        turn = taken instanceof Promise ? await taken : taken;
      }
      const refusal = this.refusalOf(name);
      if (refusal) throw refusal;
      while (!this.residents.has(name) && !this.makeRoom(isKnown))
        if (!turn || !(await this.roomComes()))
          throw tooBusy('Too many storages are in use at this moment (lws.storages.max-open).', 5);
      if (this.residents.has(name)) return void turn?.end();
      const resident = this.begun(name, () => {
        paid?.();
        turn?.end();
      });
      if (turn) resident.opening.then(turn.rest, turn.rest);
      if (seat) resident.seats.take(seat);
      return resident;
    } catch (error) {
      paid?.();
      turn?.end();
      throw error;
    }
  }

  /** Notes that a caller with rights uses a storage. */
  known(name: string): void {
    const resident = this.residents.get(name);
    if (!resident) return;
    resident.knownAt = this.options.clock();
    resident.paid?.();
    resident.paid = undefined;
    this.trim(0);
  }

  private begun(name: string, paid: Resident['paid']): Resident {
    const { clock } = this.options;
    const now = clock();
    const times = { openedAt: now, usedAt: now, knownAt: 0 };
    const resident: Resident = { opening: this.begin(name), seats: new Seats(clock), ...times, paid };
    this.residents.set(name, resident);
    resident.opening.then(
      (storage) => {
        resident.storage = storage;
        resident.openedAt = clock();
        this.counts.opened++;
      },
      (error: unknown) => {
        this.residents.delete(name);
        this.failures.set(name, clock() + failedMs);
        this.options.onFailure(name, error);
      },
    );
    return resident;
  }

  /** Why a storage cannot be opened at this moment. */
  private refusalOf(name: string): LwsError | undefined {
    if (this.isEnding) return tooBusy('The server is being stopped.', 5);
    if (!this.options.isReady(name)) return tooBusy('The storage is not open to requests by now.', 5);
    if (this.options.clock() < (this.failures.get(name) ?? 0))
      return tooBusy('The storage cannot be opened now.', failedMs / 1000);
    return undefined;
  }

  /** Waits for storages to be opened for others, or to be left by them. */
  private async roomComes(): Promise<boolean> {
    const { maxOpen, maxGuests } = this.options;
    for (let look = 0; look < maxLooks; look++) {
      await sleep(roomMs);
      if (this.isBelow(maxOpen + maxGuests) || this.leastUsed(knownMs)) return true;
    }
    return false;
  }

  private async begin(name: string): Promise<OpenStorage> {
    if (this.opening >= maxOpening) await new Promise<void>((resolve) => this.queue.push(resolve));
    else this.opening++;
    try {
      this.failures.delete(name);
      writeFileSync(this.options.markOf(name), '', { mode: 0o600 });
      return await this.options.open(name);
    } finally {
      const next = this.queue.shift();
      if (next) next();
      else this.opening--;
    }
  }

  /** Who waits for long is told to come again, and the storage is opened all the same. */
  private async soon(opening: Promise<OpenStorage>): Promise<OpenStorage> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooBusy('The storage is being opened, which takes long this time.', 10)), waitMs);
    });
    try {
      return await Promise.race([opening, late]);
    } catch (error) {
      if (error instanceof LwsError) throw error;
      throw tooBusy('The storage cannot be opened now.', failedMs / 1000);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Those that are being closed make room. */
  private isBelow(most: number): boolean {
    // Most of the time few are open.
    if (this.residents.size < most) return true;
    return [...this.residents.values()].filter(({ closing }) => !closing).length < most;
  }

  /** Makes room for one more. @returns false if each is in use */
  private makeRoom(isKnown: boolean): boolean {
    const { maxOpen, maxGuests } = this.options;
    return this.isBelow(maxOpen) || this.evict(isKnown ? 0 : knownMs) || this.isBelow(maxOpen + maxGuests);
  }

  /** Closes the storage that was used longest ago. @param ofKnownMs as of `leastUsed` */
  private evict(ofKnownMs: number): boolean {
    const oldest = this.leastUsed(ofKnownMs);
    if (!oldest) return false;
    this.counts.evicted++;
    void this.close(oldest);
    return true;
  }

  /** Closes what is open beside `maxOpen`, as far as it is not in use. */
  private trim(ofKnownMs: number): void {
    while (!this.isBelow(this.options.maxOpen + 1) && this.evict(ofKnownMs));
  }

  /** @param ofKnownMs how long others than strangers keep their storage @param ofAllMs how long each stays open */
  private leastUsed(ofKnownMs: number, ofAllMs = 0): string {
    const now = this.options.clock();
    let [oldest, at] = ['', Number.POSITIVE_INFINITY];
    for (const [name, resident] of this.residents) {
      if (!this.isFree(resident)) continue;
      if (now < resident.openedAt + ofAllMs || now < resident.knownAt + ofKnownMs) continue;
      // Those that strangers alone used go first.
      const used = resident.knownAt || resident.usedAt - knownMs;
      if (used < at) [oldest, at] = [name, used];
    }
    return oldest;
  }

  private isFree({ seats, storage, closing }: Resident): boolean {
    return storage !== undefined && !closing && !seats.areUsed && !storage.isBusy();
  }

  private closeIdle(): void {
    const { clock, idleMs } = this.options;
    const now = clock();
    this.trim(knownMs);
    for (const [name, resident] of this.residents)
      if (this.isFree(resident) && now >= resident.usedAt + idleMs && !resident.storage!.isFollowed())
        void this.close(name);
    for (const [name, until] of this.failures) if (now >= until) this.failures.delete(name);
    void this.wakeAll();
  }

  /** Closes a storage, after the requests under way; the next request opens it again. */
  close(name: string): Promise<void> {
    const resident = this.residents.get(name);
    this.failures.delete(name);
    if (!resident) return Promise.resolve();
    resident.closing ??= this.end(name, resident);
    return resident.closing;
  }

  private async end(name: string, resident: Resident): Promise<void> {
    try {
      // That it could not be opened is told already.
      const storage = await resident.opening.catch(() => undefined);
      resident.seats.close();
      if (storage && (await storage.close(endMs))) this.asleep.add(name);
      else if (storage) rmSync(this.options.markOf(name), { force: true });
    } catch (error) {
      this.options.onFailure(name, error);
    } finally {
      if (this.residents.get(name) === resident) this.residents.delete(name);
      void this.wakeAll();
    }
  }

  /** Opens those that were closed with something to do, when there is room: they deliver what they owe, and are closed when they are idle. */
  async wake(names: readonly string[]): Promise<void> {
    for (const name of names) this.asleep.add(name);
    await this.wakeAll();
  }

  private async wakeAll(): Promise<void> {
    for (const name of this.asleep) {
      if (this.isEnding || !(this.isBelow(this.options.maxOpen) || this.leastUsed(knownMs, leastMs))) return;
      this.asleep.delete(name);
      if (!this.options.isReady(name)) continue;
      await this.use(name).then(
        ({ end }) => end(),
        () => {},
      );
    }
  }

  /** Closes all; nothing is opened any more. */
  async closeAll(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await Promise.all([...this.residents.keys()].map((name) => this.close(name)));
  }
}
