/** Many storages in one process: an idle one needs little memory, and a closed one leaves nothing behind. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/tools/threads/package-root.js';

interface Each {
  readonly heapKib: number;
  readonly externalKib: number;
  readonly threads: number;
}

describe('Many storages in one process (skipped without /proc)', function () {
  this.timeout(120_000);
  let told: Readonly<Record<'opened' | 'idle' | 'again', Each>> & {
    readonly queries: { readonly statuses: Readonly<Record<string, number>>; readonly threadsAtMost: number };
  };
  before(function () {
    if (process.platform !== 'linux') return this.skip();
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-'));
    const script = join(packageRoot, 'dist/spec/bench/open-storages.js');
    try {
      const env = { ...process.env, TMPDIR: folder };
      told = JSON.parse(execFileSync(process.execPath, ['--expose-gc', script, '20'], { env, encoding: 'utf8' }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('uses memory for stored data, and none in advance', () => {
    expect(told.opened.heapKib).to.be.below(400);
    expect(told.opened.externalKib).to.be.below(100);
  });

  it('has the threads of the process, and none per storage', () => {
    expect(told.opened.threads).to.be.at.most(1);
    // Threads for updates and for queries. One of each is started in advance for all storages.
    expect(told.idle.threads).to.be.at.most(2);
  });

  it('has the threads of one query pool, and one that builds an index, if all storages are queried at once', () => {
    expect(told.queries.statuses).to.deep.equal({ 200: 60 });
    // Threads above the limit are ending. One is for updates, one for an index.
    expect(told.queries.threadsAtMost).to.be.at.most(availableParallelism() + 1 + 1 + 1 + 1 + 2);
  });

  it('releases everything of a closed storage', () => {
    expect(told.again.heapKib).to.be.below(20);
    expect(told.again.threads).to.be.at.most(0);
  });
});
