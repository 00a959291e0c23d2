/**
 * World of a simulation: seeded random numbers, a clock, and steps of disks after which the process or the machine may end. Inside of
 * `simulated`, lib/storage uses these in place of the clock, timers, random names and files of Node, other code does not.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { getTaskScheduler, setTaskScheduler } from 'asynciterator';
import { type Random, randomFrom } from '../crash/power/disk.js';
import { type FakeFiles, isFake } from './fake-files.js';

const current = new AsyncLocalStorage<World>();
const bootFile = '/proc/sys/kernel/random/boot_id';

/** A turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Timer {
  readonly at: number;
  readonly run: () => void;
  unref(): Timer;
}

export class World {
  readonly random: Random;
  now = 1_800_000_000_000;
  /** Changes when the machine ends. */
  boot = 1;
  isDiskFull = false;
  /** Number of the running process. */
  life = 0;
  hasEnded = false;
  /** Violations of the contract of LevelDB. */
  readonly faults: string[] = [];
  /** Steps until the process or the machine ends. */
  private left = 0;
  private timers: Timer[] = [];
  private names = 0;

  constructor(
    seed: number,
    readonly files: FakeFiles,
  ) {
    files.world = this;
    this.random = randomFrom(seed);
    // The first numbers of neighbouring seeds are similar.
    for (let i = 0; i < 8; i++) this.random(2);
  }

  /** True in one of a number of cases. */
  oneIn(cases: number): boolean {
    return this.random(cases) === 0;
  }

  pick<T>(of: readonly T[]): T {
    return of[this.random(of.length)]!;
  }

  /** Begins the life of a process. @param steps after which it ends */
  begin(steps = Number.POSITIVE_INFINITY): void {
    this.life++;
    [this.timers, this.hasEnded, this.left] = [[], false, steps];
  }

  endAfter(steps: number): void {
    this.left = steps;
  }

  /** A step of a disk. Does not resolve if its process has ended. */
  async step(life: number): Promise<void> {
    if (this.isRunning(life) && --this.left <= 0) this.hasEnded = true;
    if (this.isRunning(life) && this.random(3) > 0) await turn();
    if (!this.isRunning(life)) await new Promise(() => {});
  }

  private isRunning(life: number): boolean {
    return life === this.life && !this.hasEnded;
  }

  /** Lets time pass, and runs the timers that are due. */
  pass(ms: number): void {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter((timer) => !due.includes(timer));
    for (const { run } of due) run();
  }

  /** @returns true if the work has ended, false if the process has ended before @throws the error of the work */
  async finished(work: Promise<unknown>): Promise<boolean> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    for (; !isDone && !this.hasEnded; this.pass(5)) await turn();
    if (isDone) await done;
    return isDone;
  }

  after(run: () => void, ms: number): Timer {
    const timer: Timer = { at: this.now + ms, run, unref: () => timer };
    this.timers.push(timer);
    return timer;
  }

  clear(timer: unknown): void {
    this.timers = this.timers.filter((other) => other !== timer);
  }

  /** In the form of a UUID. */
  name(): string {
    const digits = ((++this.names * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0');
    return `${digits}-0000-4000-8000-${String(this.names).padStart(12, '0')}`;
  }
}

type Functions = Record<string, (...given: never[]) => unknown>;

/** Replaces functions. What returns `undefined` calls the original. @returns a function that puts the originals back */
function replace(of: object, by: Record<string, (world: World, ...given: never[]) => unknown>): () => void {
  const functions = of as Functions;
  const originals = Object.keys(by).map((name) => [name, functions[name]!] as const);
  for (const [name, original] of originals)
    functions[name] = (...given: never[]) => {
      const world = current.getStore();
      return (world && by[name]!(world, ...given)) ?? original.apply(of, given);
    };
  return () => Object.assign(functions, Object.fromEntries(originals));
}

/** Runs work in a world. */
export async function simulated<T>(world: World, work: () => Promise<T>): Promise<T> {
  const ofFiles = (name: Exclude<keyof FakeFiles, 'world' | 'dataDir'>) => (own: World, path: string, other?: never) =>
    isFake(path) ? own.files[name](path as never, other as never) : undefined;
  const asynchronous = ['open', 'mkdir', 'readdir', 'link', 'unlink', 'statfs'] as const;
  const restored = [
    replace(globalThis, {
      setTimeout: (own, run: () => void, ms = 0) => own.after(run, ms),
      clearTimeout: (own, timer: unknown) => own.clear(timer) ?? null,
    }),
    replace(Date, { now: (own) => own.now }),
    replace(crypto, { randomUUID: (own) => own.name() }),
    replace(fs, {
      existsSync: (own, path: string) => path === bootFile || ofFiles('exists')(own, path),
      readFileSync: (own, path: string) => (path === bootFile ? `boot ${own.boot}\n` : ofFiles('text')(own, path)),
    }),
    replace(promises, Object.fromEntries(asynchronous.map((name) => [name, ofFiles(name)]))),
  ];
  syncBuiltinESMExports();
  // asynciterator's own waits for a turn of the event loop after a number of tasks of the process.
  const scheduler = getTaskScheduler();
  setTaskScheduler(queueMicrotask);
  try {
    return await current.run(world, work);
  } finally {
    setTaskScheduler(scheduler);
    for (const restore of restored) restore();
    syncBuiltinESMExports();
  }
}
