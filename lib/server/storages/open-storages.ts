/** Open storages (an LRU cache): each is opened by its first request and closed when idle, or when another storage needs it. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { LwsError, tooBusy } from '../../tools/errors.js';
import { Gate } from '../../tools/gate.js';
import type { OpenStorage } from '../storage/open-storage.js';
import { type Seat, Seats } from './seats.js';

export interface OpenStoragesOptions {
  readonly maxOpen: number;
  /** Maximum count of storages that are open in addition, until the permissions of their callers are known. */
  readonly maxGuests: number;
  readonly idleMs: number;
  readonly clock: () => number;
  /** Returns true if the named storage may be opened. */
  readonly isReady: (name: string) => boolean;
  /** Opens the named storage. */
  readonly open: (name: string) => Promise<OpenStorage>;
  /** Returns the name of a file that exists while a storage is open, and remains if the process ends during this time. */
  readonly markOf: (name: string) => string;
  /** Returns the name of a file with the bytes that a storage used when it was closed. */
  readonly usageOf: (name: string) => string;
  readonly onFailure: (name: string, error: unknown) => void;
}

interface Resident {
  /** Settles when the storage is open. */
  opening: Promise<OpenStorage>;
  storage?: OpenStorage;
  /** Settles when the storage is closed. Absent if it is not being closed. */
  closing?: Promise<void>;
  readonly seats: Seats;
  openedAt: number;
  usedAt: number;
  /** Time of the last request of a privileged caller. */
  knownAt: number;
  /** Refunds this opening to the address's rate limit. */
  paid: (() => unknown) | undefined;
}

/** Maximum concurrent openings. */
const maxOpening = 4;
/** Maximum wait of a request for a storage, in milliseconds. */
const waitMs = 10_000;
/** Pause after an opening for an unprivileged caller: multiple of its duration, and maximum in milliseconds. */
const [restFactor, longestRestMs] = [3, 200];
/** Interval between checks for a free slot in milliseconds, and maximum number of checks. */
const [roomMs, maxLooks] = [50, 40];
/** Time until a failed opening is retried, in milliseconds. */
const failedMs = 30_000;
/** Minimum open time in milliseconds: of a new storage while others have work, and of a storage used by privileged callers. */
const [leastMs, knownMs] = [10_000, 60_000];
const lookMs = 5_000;
/** Maximum time for pending requests of a storage that is being closed, in milliseconds. */
const endMs = 10_000;

export class OpenStorages {
  private readonly residents = new Map<string, Resident>();
  private readonly failures = new Map<string, number>();
  /** Names of storages with pending work that wait for a slot. */
  private readonly asleep = new Set<string>();
  private readonly openings = new Gate({ inAll: maxOpening, perHost: maxOpening });
  /** Openings for unprivileged callers: one at a time, round robin between addresses, with pauses (rule 21.4). */
  private readonly strangers = new Gate({ inAll: 1, perHost: 1 });
  private readonly timer: NodeJS.Timeout;
  private isEnding = false;
  readonly counts = { opened: 0, evicted: 0 };

  constructor(private readonly options: OpenStoragesOptions) {
    this.timer = setInterval(() => this.closeIdle(), lookMs).unref();
  }

  get open(): number {
    return this.residents.size;
  }

  isOpen(name: string): boolean {
    const { storage, closing } = this.residents.get(name) ?? {};
    return storage !== undefined && !closing;
  }

  /** Returns the used bytes of a storage, now or when it was last closed. `undefined` if it was never open. */
  usedBytes(name: string): number | undefined {
    const { storage } = this.residents.get(name) ?? {};
    if (storage) return storage.platform.store.bytes;
    const file = this.options.usageOf(name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
  }

  /**
   * Acquires a storage for a request, and opens it if necessary.
   * @param seat slot of the request; undefined if no request waits
   * @param paid refunds the opening to the address's rate limit
   * @returns the storage, and a function to call once at the end of the request
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
        // Take the slot at once, because an unused storage may be closed.
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
   * Acquires a slot and starts to open a storage.
   * @returns undefined if another request has started to open it meanwhile
   * @throws LwsError `too-busy`; the opening is then not counted
   */
  private async openFor(name: string, seat: Seat | undefined, paid: Resident['paid']): Promise<Resident | undefined> {
    const isKnown = seat !== undefined && seat.callerClass !== 'stranger';
    let leave: (() => void) | undefined;
    try {
      leave = seat && !isKnown ? await this.turnOf(seat.address) : undefined;
      const began = performance.now();
      const refusal = this.refusalOf(name);
      if (refusal) throw refusal;
      while (!this.residents.has(name) && !this.makeRoom(isKnown))
        if (!leave || !(await this.roomComes()))
          throw tooBusy('Too many storages are in use (lws.storages.max-open).', 5);
      if (this.residents.has(name)) return void leave?.();
      const resident = this.begun(name, () => {
        paid?.();
        leave?.();
      });
      const rest = (): void => {
        if (leave) setTimeout(leave, Math.min(longestRestMs, restFactor * (performance.now() - began))).unref();
      };
      resident.opening.then(rest, rest);
      if (seat) resident.seats.take(seat);
      return resident;
    } catch (error) {
      paid?.();
      leave?.();
      throw error;
    }
  }

  /** Waits to open a storage for an unprivileged caller. @returns function to call afterwards @throws LwsError `too-busy` */
  private async turnOf(address: string): Promise<() => void> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(tooBusy('The storage is waiting for other storages to be opened.', 10));
    }, waitMs);
    try {
      let leave: (() => void) | undefined = await this.strangers.enter({ host: '', client: address }, late.signal);
      return () => {
        leave?.();
        leave = undefined;
      };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Records that a privileged caller uses a storage. */
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

  /** Returns the error if a storage cannot be opened now, otherwise `undefined`. */
  private refusalOf(name: string): LwsError | undefined {
    if (this.isEnding) return tooBusy('The server is stopping.', 5);
    if (!this.options.isReady(name)) return tooBusy('The storage does not accept requests yet.', 5);
    if (this.options.clock() < (this.failures.get(name) ?? 0))
      return tooBusy('The storage cannot be opened now.', failedMs / 1000);
    return undefined;
  }

  /** Waits until a slot is free, or a storage can be closed. Returns false if that takes too long. */
  private async roomComes(): Promise<boolean> {
    const { maxOpen, maxGuests } = this.options;
    for (let look = 0; look < maxLooks; look++) {
      await sleep(roomMs);
      if (this.isBelow(maxOpen + maxGuests) || this.leastUsed(knownMs)) return true;
    }
    return false;
  }

  private async begin(name: string): Promise<OpenStorage> {
    const leave = await this.openings.enter({ host: '' });
    try {
      this.failures.delete(name);
      writeFileSync(this.options.markOf(name), '', { mode: 0o600 });
      return await this.options.open(name);
    } finally {
      leave();
    }
  }

  /** Waits for an opening. After a long wait, the request fails with `too-busy`, and the opening continues. */
  private async soon(opening: Promise<OpenStorage>): Promise<OpenStorage> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(tooBusy('The storage is being opened, which takes longer than usual.', 10)),
        waitMs,
      );
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

  /** Returns true if fewer than `most` storages are open. Storages that are being closed do not count. */
  private isBelow(most: number): boolean {
    // Fast path: mostly few storages are open.
    if (this.residents.size < most) return true;
    return [...this.residents.values()].filter(({ closing }) => !closing).length < most;
  }

  /** Frees a slot. @returns false if each storage is in use */
  private makeRoom(isKnown: boolean): boolean {
    const { maxOpen, maxGuests } = this.options;
    return this.isBelow(maxOpen) || this.evict(isKnown ? 0 : knownMs) || this.isBelow(maxOpen + maxGuests);
  }

  /** Closes the least recently used storage. @param ofKnownMs as for `leastUsed` */
  private evict(ofKnownMs: number): boolean {
    const oldest = this.leastUsed(ofKnownMs);
    if (!oldest) return false;
    this.counts.evicted++;
    void this.close(oldest);
    return true;
  }

  /** Closes storages in excess of `maxOpen` that are not in use. */
  private trim(ofKnownMs: number): void {
    while (!this.isBelow(this.options.maxOpen + 1) && this.evict(ofKnownMs));
  }

  /** Returns the least recently used storage, or ''. @param ofKnownMs minimum open time after use by privileged callers */
  private leastUsed(ofKnownMs: number, ofAllMs = 0): string {
    const now = this.options.clock();
    let [oldest, at] = ['', Number.POSITIVE_INFINITY];
    for (const [name, resident] of this.residents) {
      if (!this.isFree(resident)) continue;
      if (now < resident.openedAt + ofAllMs || now < resident.knownAt + ofKnownMs) continue;
      // Prefer storages that only unprivileged callers use.
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

  /** Closes a storage after its pending requests. The next request opens it again. */
  close(name: string): Promise<void> {
    const resident = this.residents.get(name);
    this.failures.delete(name);
    if (!resident) return Promise.resolve();
    resident.closing ??= this.end(name, resident);
    return resident.closing;
  }

  private async end(name: string, resident: Resident): Promise<void> {
    try {
      // Ignore a failed opening, which was already reported.
      const storage = await resident.opening.catch(() => undefined);
      resident.seats.close();
      if (storage) writeFileSync(this.options.usageOf(name), String(storage.platform.store.bytes), { mode: 0o600 });
      if (storage && (await storage.close(endMs))) this.asleep.add(name);
      else if (storage) rmSync(this.options.markOf(name), { force: true });
    } catch (error) {
      this.options.onFailure(name, error);
    } finally {
      if (this.residents.get(name) === resident) this.residents.delete(name);
      void this.wakeAll();
    }
  }

  /** Opens storages that were closed with pending work, when a slot is free. They finish the work and are closed when idle. */
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

  /** Closes all storages. No storage can be opened afterwards. */
  async closeAll(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await Promise.all([...this.residents.keys()].map((name) => this.close(name)));
  }
}
