/**
 * Workers start and end while tasks are queued: no task may be lost to a worker that is about to end. The spec must not know the
 * content of a task.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { DocumentFunctions } from '../../lib/documents/document-worker.js';
import { WorkerPool } from '../../lib/tools/threads/worker-pool.js';

describe('A worker that ends after its idle time', function () {
  this.timeout(30_000);

  it('loses no task', async () => {
    const script = new URL('../../lib/documents/document-worker.js', import.meta.url);
    const pool = new WorkerPool<DocumentFunctions>({ script, size: 1, queue: 10, idleMs: 5, memoryMb: 256 });
    const given = { bytes: new TextEncoder().encode('{}') };
    const failures: unknown[] = [];
    const end = performance.now() + 3000;
    try {
      while (performance.now() < end) {
        await pool.run({ work: (thread) => thread.call('checkJson', given) }).catch((error) => failures.push(error));
        // Around the moment at which the idle worker is ended.
        await sleep(3 + Math.random() * 6);
      }
    } finally {
      await pool.close();
    }
    expect(failures).to.deep.equal([]);
  });
});
