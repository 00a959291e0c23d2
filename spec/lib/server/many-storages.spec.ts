/** Many storages in one process: one that nobody asks takes next to nothing, and one that was closed leaves nothing. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../../lib/threads/package-root.js';

interface Each {
  readonly heapKib: number;
  readonly externalKib: number;
  readonly threads: number;
}

describe('Many storages in one process (skipped without /proc)', function () {
  this.timeout(120_000);
  let told: Readonly<Record<'opened' | 'idle' | 'again', Each>> & {
    readonly asked: { readonly statuses: Readonly<Record<string, number>>; readonly threadsAtMost: number };
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

  it('takes memory for what each holds, and none ahead', () => {
    expect(told.opened.heapKib).to.be.below(400);
    expect(told.opened.externalKib).to.be.below(100);
  });

  it('has the threads of the process, and none for a storage', () => {
    expect(told.opened.threads).to.be.at.most(1);
    // Those for updates and for queries, one of each started ahead for all of them.
    expect(told.idle.threads).to.be.at.most(2);
  });

  it('has the threads of one pool of queries, and one that builds an index, when all are asked at once', () => {
    expect(told.asked.statuses).to.deep.equal({ 200: 60 });
    // Those that are there for a moment more are ending. One is for updates, one for an index.
    expect(told.asked.threadsAtMost).to.be.at.most(availableParallelism() + 1 + 1 + 1 + 1 + 2);
  });

  it('is left by a storage that is closed', () => {
    expect(told.again.heapKib).to.be.below(20);
    expect(told.again.threads).to.be.at.most(0);
  });
});
