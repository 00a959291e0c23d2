/** Worker pools with a shared limit of threads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ThreadEnded } from '../../../../lib/tools/threads/messages.js';
import { ThreadSlots } from '../../../../lib/tools/threads/thread-slots.js';
import { WorkerPool } from '../../../../lib/tools/threads/worker-pool.js';
import { slowness } from '../../../support/patience.js';
import type { WaitingFunctions } from './waiting-thread.js';

describe('Worker pools with a shared limit', function () {
  this.timeout(120_000);
  const most = 2;
  let pools: readonly WorkerPool<WaitingFunctions>[];
  const open = (count: number): void => {
    const places = new ThreadSlots();
    places.allow(most);
    const script = new URL('./waiting-thread.js', import.meta.url);
    const options = { script, size: most, queue: 100, idleMs: 60_000, memoryMb: 64, isShared: true, places };
    pools = Array.from({ length: count }, () => new WorkerPool<WaitingFunctions>(options));
  };
  afterEach(() => Promise.all(pools.map((pool) => pool.close())));
  const run = (pool: number, ms: number, client = ''): Promise<void> =>
    pools[pool]!.run({ client, work: (thread) => thread.call('last', ms) });
  const threads = (): number => pools.reduce((sum, { held }) => sum + held, 0);

  it('never exceed the limit together, and complete all jobs', async () => {
    open(8);
    let seen = 0;
    const watch = setInterval(() => {
      seen = Math.max(seen, threads());
    }, 1);
    const jobs = pools.flatMap((_, pool) => ['one', 'two', 'three'].map((client) => run(pool, 10, client)));
    await Promise.all(jobs);
    clearInterval(watch);
    expect(seen).to.equal(most);
  });

  it('get a thread each in turn, even if one has an endless queue', async () => {
    open(2);
    let isOver = false;
    const busy = Promise.all(
      ['one', 'two', 'three'].map(async (client) => {
        while (!isOver) await run(0, 50, client);
      }),
    );
    await sleep(500);
    const began = Date.now();
    await run(1, 10);
    expect(Date.now() - began).to.be.below(5_000 * slowness);
    isOver = true;
    await busy;
  });

  it('get the slot of an idle thread, and that of a closed pool', async () => {
    open(3);
    await Promise.all([run(0, 10, 'one'), run(0, 10, 'two')]);
    await run(1, 10);
    await pools[0]!.close();
    await pools[1]!.close();
    await Promise.all([run(2, 10, 'one'), run(2, 10, 'two')]);
    expect(threads()).to.be.within(1, most);
  });
});

describe('A worker pool with a memory limit', () => {
  const script = new URL('./waiting-thread.js', import.meta.url);
  const limits = { memoryOfAll: 100, heldByAll: 50 };
  let pool: WorkerPool<WaitingFunctions>;
  let running: number[];
  let mosts: number[];

  beforeEach(() => {
    pool = new WorkerPool<WaitingFunctions>({ script, size: 3, queue: 100, idleMs: 60_000, memoryMb: 64, ...limits });
    [running, mosts] = [[], []];
  });
  afterEach(() => pool.close());

  /** Runs a job with an amount of memory until the returned function is called. */
  function job(memory: number, held = 0): { readonly done: Promise<unknown>; end(): void } {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const work = async (): Promise<void> => {
      running.push(memory);
      mosts.push(running.reduce((sum, each) => sum + each, 0));
      await ended;
      running.splice(running.indexOf(memory), 1);
    };
    const done = pool.run({ memory, held, work });
    return { done, end };
  }

  it('runs jobs together only while their memory is below it, and one of any size alone', async () => {
    const jobs = [60, 50, 40, 0, 200, 30].map((memory) => job(memory));
    expect(running).to.deep.equal([60, 40, 0]);
    for (const { end } of jobs) end();
    await Promise.all(jobs.map(({ done }) => done));
    expect(Math.max(...mosts)).to.equal(200);
    expect(mosts.filter((memory) => memory > 100)).to.deep.equal([200]);
  });

  it('rejects a job if those that wait would hold too much', async () => {
    const first = job(100);
    const [second, third] = [job(10, 30), job(10, 20)];
    await expectBusy(job(10, 1).done);
    for (const { end } of [first, second, third]) end();
    await Promise.all([first, second, third].map(({ done }) => done));
  });
});

async function expectBusy(done: Promise<unknown>): Promise<void> {
  const error = await done.then(
    () => undefined,
    (reason: unknown) => reason as ThreadEnded,
  );
  expect(error?.why).to.equal('busy');
}
