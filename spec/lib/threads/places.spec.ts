/** Worker pools with a shared limit of threads. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ThreadSlots, WorkerPool } from '../../../lib/threads/worker-pool.js';
import { slowness } from '../../support/patience.js';
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
