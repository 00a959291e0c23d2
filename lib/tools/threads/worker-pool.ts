/** Pool of worker threads for CPU-heavy work: bounded in number and memory, shared fairly between clients, killed if necessary. */
import { lruCache } from '../caches.js';
import { addCount } from '../collections.js';
import { type Functions, ThreadEnded } from './messages.js';
import { Thread, type ThreadOptions } from './thread.js';
import { affordable, threadLimits } from './thread-limits.js';
import type { Tenant, ThreadSlots } from './thread-slots.js';

/** A job that uses a thread of a pool. */
interface Job<F extends Functions, T> {
  /** Client key, if clients share the pool. */
  readonly client?: string | undefined;
  /** Storage of a deployment. Storages are served round robin, and no storage uses the last free thread. */
  readonly tenant?: string | undefined;
  /** Priority. Lower values run first. Default: 0. */
  readonly rank?: number | undefined;
  /** Estimated memory in bytes: of the running job, and of the data that it holds while it waits. Default: 0. */
  readonly memory?: number | undefined;
  readonly held?: number | undefined;
  /** Aborts when the caller disconnects. */
  readonly gone?: AbortSignal | undefined;
  /** Does the work. The job owns the thread until the returned promise settles, and may end the thread. */
  work(thread: Thread<F>): Promise<T>;
}

interface PoolOptions<F extends Functions> extends Omit<ThreadOptions, 'limits'> {
  /** Maximum number of threads that work concurrently. */
  readonly size: number;
  /** Maximum number of waiting jobs per client. */
  readonly queue: number;
  /** Idle time in milliseconds after which a thread ends. Absent: one thread stays ready. */
  readonly idleMs?: number;
  /** Maximum memory of a job, in MiB. */
  readonly memoryMb: number;
  /** Size of the young generation of the heap, in MiB. A small size keeps idle threads small. */
  readonly nurseryMb?: number;
  /** True if clients share the pool: no client uses the last thread, and a spare thread is ready while one runs a long job. */
  readonly isShared?: boolean;
  /** Maximum number of threads for jobs of a client. Default: no limit, or with `isShared` all threads but one. */
  readonly perClient?: number;
  /** Maximum estimated memory in bytes: of running jobs, and of data of waiting jobs. One job always runs. Absent: no limit. */
  readonly memoryOfAll?: number;
  readonly heldByAll?: number;
  /** Maximum number of threads for jobs of each rank and all later ranks. Absent: no limit. */
  readonly ranks?: readonly number[];
  /**
   * Thread slots shared with other pools of the same script and memory. Absent: the pool has its own threads. A thread that moves
   * to another pool is called with `turnTo` and the data of that pool.
   */
  readonly places?: ThreadSlots;
  /** Called with each thread that moves to another pool. */
  readonly onLeave?: ((thread: Thread<F>) => void) | undefined;
  /** Called with each new thread. */
  readonly onSpawn?: ((thread: Thread<F>) => void) | undefined;
}

interface Waiting<F extends Functions> {
  readonly job: Job<F, unknown>;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Maximum number of waiting jobs of all clients of a rank, as a multiple of the limit per client. */
const queuesOfAll = 8;

/** Duration of a job in milliseconds after which a spare is started: loading a thread takes a second of CPU time. */
const spareMs = 1_000;
export const spareThreads = affordable(1);

/** Minimum time in milliseconds for which a pool keeps a thread while it has jobs and other pools wait: another pool has to reopen its data. */
const heldMs = 250;

/** Returns the key of a tenant in maps that also contain client keys. */
const keyOf = (tenant: string): string => `tenant ${tenant}`;

export class WorkerPool<F extends Functions = Functions> implements Tenant {
  /** Idle threads with their timers. */
  private readonly idle = new Map<Thread<F>, NodeJS.Timeout | undefined>();
  private readonly all = new Set<Thread<F>>();
  private readonly waiting: Waiting<F>[] = [];
  private readonly running = new Map<string, number>();
  private readonly runningOfRank: number[] = [];
  /** Estimated memory of running jobs, in bytes. */
  private memory = 0;
  /** Sequence number of the last started job, by client and by tenant. */
  private readonly turns = lruCache<number>(10_000);
  private turn = 0;
  private closed = false;
  private isPaused = false;
  private isWarm = false;
  private spare: NodeJS.Timeout | undefined;
  /** Threads that ended during a job. */
  private killed = 0;
  private begun = 0;
  private spawnedAt = 0;
  /** Threads that are closing the data of this pool. */
  private readonly leaving = new Set<Promise<unknown>>();

  constructor(private readonly options: PoolOptions<F>) {}

  /** Counts of threads, busy threads and crashed threads, and of waiting and started jobs. */
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

  /** Moves an idle thread to another pool. The thread closes the data of this pool before it opens data of the other. */
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

  /** Starts one thread in advance. From then on one thread is always ready, unless other pools need its slot. */
  warm(): void {
    this.isWarm = true;
    if (this.all.size > 0 || this.closed || this.isPaused || this.options.places?.isFull) return;
    const thread = this.spawn();
    if (thread) this.idle.set(thread, undefined);
  }

  /** Runs a job when a thread is free. @throws ThreadEnded if the job did not start; the error of the job */
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

  /** Ends all threads, including busy ones. Jobs wait until the returned function is called. */
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

  /** Returns true if the queue is full for a job. A client fills only its own part of the queue. */
  private isFull(job: Job<F, unknown>): boolean {
    const { queue } = this.options;
    const ofRank = this.waiting.filter(({ job: { rank = 0 } }) => rank === (job.rank ?? 0));
    const own = ofRank.filter(({ job: { client } }) => client === job.client).length;
    if (own === 0 && this.busy < this.options.size && this.mayRun(job)) return false;
    const held = this.waiting.reduce((sum, { job: { held = 0 } }) => sum + held, 0);
    if (held > 0 && held + (job.held ?? 0) > (this.options.heldByAll ?? Number.POSITIVE_INFINITY)) return true;
    const most = queue * queuesOfAll;
    if (job.tenant !== undefined && ofRank.filter(({ job: { tenant } }) => tenant === job.tenant).length >= most >> 1)
      return true;
    return own >= queue || ofRank.length >= most;
  }

  private get busy(): number {
    return this.all.size - this.idle.size;
  }

  /** Returns true if client, tenant and rank of a job are within their limits, and a thread is left for other clients. */
  private mayRun({ client = '', tenant, rank = 0, memory = 0 }: Job<F, unknown>): boolean {
    const { isShared, size, ranks = [], memoryOfAll = Number.POSITIVE_INFINITY } = this.options;
    if (this.memory > 0 && memory > 0 && this.memory + memory > memoryOfAll) return false;
    const allButOne = Math.max(1, size - 1);
    const { perClient = isShared ? allButOne : size } = this.options;
    const holds = (who: string, most: number): boolean => (this.running.get(who) ?? 0) >= most;
    if (holds(client, perClient) || (tenant !== undefined && holds(keyOf(tenant), allButOne))) return false;
    for (let each = 0, most = size; each <= rank; each++) {
      most = Math.min(most, ranks[each] ?? size);
      if (this.runningFrom(each) >= most) return false;
    }
    return true;
  }

  /** Returns the count of running jobs of a rank and all later ranks. */
  private runningFrom(rank: number): number {
    return this.runningOfRank.slice(rank).reduce((sum, count) => sum + count, 0);
  }

  /** Returns the index of the next job: by rank, then of the tenant and then of the client that was served least recently. */
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
    // The most recently used thread has warm CPU caches.
    const thread = resting.findLast(({ isReady }) => isReady) ?? resting[0] ?? this.spawn() ?? [...this.idle.keys()][0];
    if (!thread) return;
    const [waiting] = this.waiting.splice(at, 1) as [Waiting<F>];
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    void this.work(thread, waiting);
    this.wantSpare();
    this.next();
  }

  /** Starts a spare thread during a long job: if that job is killed, the next job does not wait for a thread to load. */
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

  /** Pool that waits for the slot of a thread of this pool. */
  private get wanting(): Tenant | undefined {
    const isIdle = this.nextAt() === undefined;
    const mayGive = isIdle || performance.now() - this.spawnedAt > heldMs;
    return mayGive ? this.options.places?.wanting(this, isIdle) : undefined;
  }

  private count({ client = '', tenant, rank = 0, memory = 0 }: Job<F, unknown>, change: 1 | -1): void {
    this.memory += change * memory;
    for (let each = this.runningOfRank.length; each <= rank; each++) this.runningOfRank.push(0);
    this.runningOfRank[rank]! += change;
    for (const who of tenant === undefined ? [client] : [client, keyOf(tenant)]) addCount(this.running, who, change);
  }

  /** Starts a thread, or returns `undefined` if no slot is free. */
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
      // The thread may belong to another pool by now.
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
    // Remove the thread from the idle threads immediately: no job may get a thread that is about to end.
    clearTimeout(this.idle.get(thread));
    this.idle.delete(thread);
    void thread.end();
  }
}
