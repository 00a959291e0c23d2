/** Unused memory of a thread. */
import { expect } from 'chai';
import { Thread } from '../../../../lib/tools/threads/thread.js';
import type { FilledFunctions } from './filled-thread.js';

describe('Heap of a thread', function () {
  this.timeout(60_000);
  const filled = async (isAtWork: boolean): Promise<readonly [full: number, later: number]> => {
    const thread = new Thread<FilledFunctions>({ script: new URL('./filled-thread.js', import.meta.url), limits: {} });
    try {
      return await thread.call('filled', { isAtWork });
    } finally {
      await thread.end();
    }
  };

  it('releases garbage when the thread is idle', async () => {
    const [full, later] = await filled(false);
    expect(full).to.be.above(40);
    expect(later).to.be.below(20);
  });

  it('is not collected while the thread has work', async () => {
    const [full, later] = await filled(true);
    expect(later).to.be.at.least(full - 5);
  });
});
