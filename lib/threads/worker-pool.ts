/**
 * Worker threads for what could hold up the HTTP thread: bounded in number and memory, shared fairly between clients, and killed if they
 * must be.
 */
import { lruCache } from '../caches.js';
import { type Functions, ThreadEnded } from './messages.js';
import { Thread, type ThreadOptions } from './thread.js';
import { affordable, threadLimits } from './thread-limits.js';

/** Work with a thread of a pool. */
interface Job<F extends Functions, T> {
  /** Whose it is, where clients share a pool. */
  readonly client?: string | undefined;
  /** Of which storage of a deployment: these take turns first, and none holds the last thread. */
  readonly tenant?: string | undefined;
  /** Jobs of a lower one come first; 0 when absent. */
  readonly rank?: number | undefined;
  /** Aborts when nobody waits for it any more. */
  readonly gone?: AbortSignal | undefined;
  /** Has a thread that is its own until what this returns settles, and may end it. */
  work(thread: Thread<F>): Promise<T>;
}

interface PoolOptions<F extends Functions> extends Omit<ThreadOptions, 'limits'> {
  /** At most this many threads work at once. */
  readonly size: number;
  /** At most this many jobs of one client wait. */
  readonly queue: number;
  /** A thread without work ends after this many milliseconds; absent: one stays, ready. */
  readonly idleMs?: number;
  /** What a job may have, in MiB. */
  readonly memoryMb: number;
  /** The heap's nursery; a small one keeps an idle thread small. */
  readonly nurseryMb?: number;
  /** Clients share the pool: none of them holds the last thread, and another one is ready while one works for long. */
  readonly isShared?: boolean;
  /** The most threads that jobs of each rank, and of those after it, hold together; absent: all. */
  readonly ranks?: readonly number[];
  /**
   * Places that it has together with other pools of the same script and memory; absent: it has as many threads as it needs, whatever others have. A
   * thread that goes to another pool is called with `turnTo` and that pool's `data`.
   */
  readonly places?: ThreadSlots;
  /** Called with each thread that goes to another pool. */
  readonly onLeave?: ((thread: Thread<F>) => void) | undefined;
  /** Called with each new thread. */
  readonly onSpawn?: ((thread: Thread<F>) => void) | undefined;
}

interface Waiting<F extends Functions> {
  readonly job: Job<F, unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** All clients of a rank together may have so many times as many jobs waiting as one. */
const queuesOfAll = 8;

/** A thread takes a second of processor to load: one is kept ready only while a job runs longer than this. */
const spareMs = 1_000;
export const spareThreads = affordable(1);

/** A pool that others wait for keeps a thread at least so long, while it has jobs: another one has to open what it works on. */
const heldMs = 250;

/** A tenant beside clients, none of whose names has a blank. */
const keyOf = (tenant: string): string => `tenant ${tenant}`;

export class WorkerPool<F extends Functions = Functions> implements Tenant {
  /** The threads without a job, with the timer that ends each. */
  private readonly idle = new Map<Thread<F>, NodeJS.Timeout | undefined>();
  private readonly all = new Set<Thread<F>>();
  private readonly waiting: Waiting<F>[] = [];
  private readonly running = new Map<string, number>();
  private readonly runningOfRank: number[] = [];
  /** When each client had its last turn. */
  private readonly turns = lruCache<number>(10_000);
  private turn = 0;
  private closed = false;
  private isPaused = false;
  private isWarm = false;
  private spare: NodeJS.Timeout | undefined;
  /** Threads that ended while they had a job. */
  private killed = 0;
  private begun = 0;
  private spawnedAt = 0;
  /** Threads that are letting go of the data of this pool. */
  private readonly leaving = new Set<Promise<unknown>>();

  constructor(private readonly options: PoolOptions<F>) {}

  /** Threads that there are, have a job, and ended with one; jobs that wait, and that were begun. */
  get state(): Readonly<Record<'threads' | 'busy' | 'killed' | 'waiting' | 'begun', number>> {
    const { busy, killed, begun } = this;
    return { threads: this.all.size, busy, killed, waiting: this.waiting.length, begun };
  }

  get held(): number {
    return this.all.size;
  }

  giveIdle(to: Tenant): boolean {
    const [thread] = this.idle.keys();
    if (thread) this.give(thread, to);
    return thread !== undefined;
  }

  /** Has another pool go on with a thread that has no job; the data of this pool are let go of before those of that are used. */
  private give(thread: Thread<F>, to: Tenant): void {
    if (!(to instanceof WorkerPool)) return;
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    this.all.delete(thread);
    this.options.onLeave?.(thread);
    const turned = thread.call('turnTo' as never, to.options.data as never).catch(() => thread.end());
    this.leaving.add(turned);
    void turned.then(() => this.leaving.delete(turned));
    to.adopt(thread);
  }

  private adopt(thread: Thread<F>): void {
    this.options.places?.served(this);
    this.have(thread);
    this.rest(thread);
  }

  /** Starts one thread before it is needed; from then on there always is one, unless other pools need its place. */
  warm(): void {
    this.isWarm = true;
    if (this.all.size > 0 || this.closed || this.isPaused || this.options.places?.isFull) return;
    const thread = this.spawn();
    if (thread) this.idle.set(thread, undefined);
  }

  /** @throws ThreadEnded when it did not begin; what the job's work throws */
  run<T>(job: Job<F, T>): Promise<T> {
    if (this.closed) return Promise.reject(new ThreadEnded('closed'));
    if (this.isFull(job)) return Promise.reject(new ThreadEnded('busy'));
    return new Promise((resolve, reject) => {
      const waiting: Waiting<F> = { job, resolve: resolve as (answer: unknown) => void, reject };
      this.waiting.push(waiting);
      const leave = (): void => {
        const at = this.waiting.indexOf(waiting);
        if (at < 0) return;
        this.waiting.splice(at, 1);
        reject(new ThreadEnded('gone'));
      };
      job.gone?.addEventListener('abort', leave, { once: true });
      if (job.gone?.aborted) leave();
      this.next();
    });
  }

  /** Ends all threads, those at work too; jobs wait until what it returns is called. */
  async pause(): Promise<() => void> {
    this.isPaused = true;
    this.options.places?.leave(this);
    await this.endAll();
    return () => {
      this.isPaused = false;
      this.next();
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    this.options.places?.leave(this);
    for (const { reject } of this.waiting.splice(0)) reject(new ThreadEnded('closed'));
    await this.endAll();
  }

  /** A client fills its own part of the queue, never everybody's. */
  private isFull(job: Job<F, unknown>): boolean {
    const { queue } = this.options;
    const ofRank = this.waiting.filter(({ job: { rank = 0 } }) => rank === (job.rank ?? 0));
    const own = ofRank.filter(({ job: { client } }) => client === job.client).length;
    if (own === 0 && this.busy < this.options.size && this.mayRun(job)) return false;
    const most = queue * queuesOfAll;
    if (job.tenant !== undefined && ofRank.filter(({ job: { tenant } }) => tenant === job.tenant).length >= most >> 1)
      return true;
    return own >= queue || ofRank.length >= most;
  }

  private get busy(): number {
    return this.all.size - this.idle.size;
  }

  /** One client, or tenant, never holds the last thread, unless there is only one; nor do those of a rank hold more than is theirs. */
  private mayRun({ client = '', tenant, rank = 0 }: Job<F, unknown>): boolean {
    const { isShared, size, ranks = [] } = this.options;
    const holdsAll = (who: string): boolean => (this.running.get(who) ?? 0) >= Math.max(1, size - 1);
    if ((isShared && holdsAll(client)) || (tenant !== undefined && holdsAll(keyOf(tenant)))) return false;
    for (let each = 0, most = size; each <= rank; each++) {
      most = Math.min(most, ranks[each] ?? size);
      if (this.runningFrom(each) >= most) return false;
    }
    return true;
  }

  /** Jobs of a rank, and of those after it, that have a thread. */
  private runningFrom(rank: number): number {
    return this.runningOfRank.slice(rank).reduce((sum, count) => sum + count, 0);
  }

  /** The lowest rank comes first; of one rank, the tenant whose last turn was longest ago, and of that, the client. */
  private nextAt(): number | undefined {
    let best: { readonly at: number; readonly order: readonly number[] } | undefined;
    for (const [at, { job }] of this.waiting.entries()) {
      if (!this.mayRun(job)) continue;
      const { client = '', tenant, rank = 0 } = job;
      const turnOf = (who: string): number => this.turns.get(who) ?? 0;
      const order = [rank, tenant === undefined ? 0 : turnOf(keyOf(tenant)), turnOf(client)];
      const differs = best ? order.findIndex((each, place) => each !== best!.order[place]) : 0;
      if (!best || (differs >= 0 && order[differs]! < best.order[differs]!)) best = { at, order };
    }
    return best?.at;
  }

  next(): void {
    if (this.closed || this.isPaused || this.busy >= this.options.size) return;
    const at = this.nextAt();
    if (at === undefined) return;
    const resting = [...this.idle.keys()];
    // The one that worked last has what it needs in the caches of its processor.
    const thread = resting.findLast(({ isReady }) => isReady) ?? resting[0] ?? this.spawn() ?? [...this.idle.keys()][0];
    if (!thread) return;
    const [waiting] = this.waiting.splice(at, 1) as [Waiting<F>];
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    void this.work(thread, waiting);
    this.wantSpare();
    this.next();
  }

  /** The job after one that is killed should not wait for a thread to load; after a short one it has that of the short one. */
  private wantSpare(): void {
    if (!this.options.isShared) return;
    this.spare ??= setTimeout(() => {
      this.spare = undefined;
      if (this.closed || this.isPaused || this.idle.size > 0 || this.all.size >= this.options.size + spareThreads)
        return;
      const thread = this.options.places?.isFull ? undefined : this.spawn();
      if (thread) this.rest(thread);
    }, spareMs).unref();
  }

  private async work(thread: Thread<F>, { job, resolve, reject }: Waiting<F>): Promise<void> {
    this.turns.set(job.client ?? '', ++this.turn);
    if (job.tenant !== undefined) this.turns.set(keyOf(job.tenant), this.turn);
    this.begun++;
    this.count(job, 1);
    const settled = await job.work(thread).then(
      (answer) => () => resolve(answer),
      (error) => () => reject(error),
    );
    this.count(job, -1);
    const other = thread.isEnding ? undefined : this.wanting;
    if (other) this.give(thread, other);
    else if (!thread.isEnding) this.rest(thread);
    settled();
    other?.next();
    this.next();
  }

  /** Another pool that needs the place of a thread whose job has ended. */
  private get wanting(): Tenant | undefined {
    const isIdle = this.nextAt() === undefined;
    const mayGive = isIdle || performance.now() - this.spawnedAt > heldMs;
    return mayGive ? this.options.places?.wanting(this, isIdle) : undefined;
  }

  private count({ client = '', tenant, rank = 0 }: Job<F, unknown>, change: 1 | -1): void {
    for (let each = this.runningOfRank.length; each <= rank; each++) this.runningOfRank.push(0);
    this.runningOfRank[rank]! += change;
    for (const who of tenant === undefined ? [client] : [client, keyOf(tenant)]) {
      const count = (this.running.get(who) ?? 0) + change;
      if (count > 0) this.running.set(who, count);
      else this.running.delete(who);
    }
  }

  /** A new thread; `undefined` where there is no place for one. */
  private spawn(): Thread<F> | undefined {
    const { memoryMb, nurseryMb, places, ...options } = this.options;
    if (places && !places.take(this)) return undefined;
    const thread = new Thread<F>({ ...options, limits: threadLimits(memoryMb, nurseryMb) });
    this.have(thread);
    return thread;
  }

  private have(thread: Thread<F>): void {
    const { idleMs, onSpawn, places } = this.options;
    this.spawnedAt = performance.now();
    this.all.add(thread);
    onSpawn?.(thread);
    void thread.exited.then(() => {
      // It may be another pool's by now.
      if (!this.all.delete(thread)) return;
      clearTimeout(this.idle.get(thread));
      if (!this.idle.has(thread) && !this.closed && !this.isPaused) this.killed++;
      this.idle.delete(thread);
      places?.free();
      if (idleMs === undefined || this.isWarm) this.warm();
      this.next();
    });
  }

  private async endAll(): Promise<void> {
    clearTimeout(this.spare);
    this.spare = undefined;
    for (const timer of this.idle.values()) clearTimeout(timer);
    await Promise.all([...[...this.all].map((thread) => thread.end()), ...this.leaving]);
  }

  private rest(thread: Thread<F>): void {
    if (!this.all.has(thread)) return;
    const { idleMs } = this.options;
    this.idle.set(thread, idleMs === undefined ? undefined : setTimeout(() => this.dismiss(thread), idleMs).unref());
  }

  private dismiss(thread: Thread<F>): void {
    // Out of the idle ones at once: a job must not be given to a thread that is about to end.
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    void thread.end();
  }
}

/** A pool that has places. */
interface Tenant {
  /** Threads that it has. */
  readonly held: number;
  /** Gives a thread without a job to another pool; `false`: it has none. */
  giveIdle(to: Tenant): boolean;
  /** There may be a place for it. */
  next(): void;
}

export class ThreadSlots {
  private most = 0;
  private taken = 0;
  /** The one that took a place last stands last. */
  private readonly tenants = new Set<Tenant>();
  /** The one that has waited longest stands first. */
  private readonly waiting = new Set<Tenant>();

  /** There are at least so many places. */
  allow(threads: number): void {
    this.most = Math.max(this.most, threads);
  }

  get isFull(): boolean {
    return this.taken >= this.most;
  }

  /** Takes a place for a new thread; where there is none, a pool gives a thread that it does not use, or `next` is called when there is one. */
  take(tenant: Tenant): boolean {
    if (this.isFull) {
      if (![...this.tenants].some((each) => each !== tenant && each.giveIdle(tenant))) this.waiting.add(tenant);
      return false;
    }
    this.taken++;
    this.served(tenant);
    return true;
  }

  /** A pool has got a place. */
  served(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
    this.tenants.add(tenant);
  }

  /** Who waits for a place of a pool: one that it does not use, or one where it has more. */
  wanting(tenant: Tenant, isIdle: boolean): Tenant | undefined {
    const { held } = tenant;
    const mayHave = (each: Tenant): boolean => isIdle || each.held === 0 || each.held + 1 < held;
    return [...this.waiting].find((each) => each !== tenant && mayHave(each));
  }

  /** A thread has ended. */
  free(): void {
    this.taken--;
    for (const each of [...this.waiting]) {
      if (this.isFull) return;
      this.waiting.delete(each);
      each.next();
    }
  }

  /** A pool takes no thread from here on. */
  leave(tenant: Tenant): void {
    this.waiting.delete(tenant);
    this.tenants.delete(tenant);
  }
}
