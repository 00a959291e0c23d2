/** What work in a thread may take of memory (rule 14.7): it is counted from what is there before it. */
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { programMb, threadLimits } from '../../../lib/threads/thread-limits.js';

const limits = new URL('../../../lib/query/limits.js', import.meta.url).href;

/** What a thread of 64 MiB says that has so many MiB before its work, in use or as garbage, and whose work adds so many. */
async function ended(kept: number, garbage: number, added: number): Promise<string> {
  const script = `
    const { parentPort } = require('node:worker_threads');
    const filled = (mb) => Array.from({ length: mb }, () => Array.from({ length: 1 << 17 }, (_, index) => index + 0.5));
    import(${JSON.stringify(limits)}).then(({ checkOf }) => {
      const kept = filled(${kept});
      filled(${garbage});
      const out = new Error('out of memory');
      const check = checkOf({ timeoutMs: 60_000, timeout: () => new Error('timeout'), outOfMemory: () => out });
      const added = [];
      let told = 'ended';
      try {
        for (let mb = 0; mb < ${added}; mb++) {
          added.push(filled(1));
          check();
        }
      } catch (error) {
        told = error.message;
      }
      parentPort.postMessage([told, kept.length + added.length > 0]);
    });`;
  const worker = new Worker(script, { eval: true, resourceLimits: threadLimits(64) });
  const [told] = await new Promise<[string]>((resolve, reject) =>
    worker.once('message', resolve).once('error', reject),
  );
  await worker.terminate();
  return told;
}

describe('The memory of work in a thread', () => {
  it('Rule 14.7: is what the work adds, whatever was there before', async () => {
    expect(await ended(0, 0, 25)).to.equal('ended');
    expect(await ended(35, 0, 25)).to.equal('ended');
    expect(await ended(0, 70, 25)).to.equal('ended');
  });

  it('Rule 14.7: ends the work in time, before V8 ends the thread', async () => {
    expect(await ended(0, 0, 60)).to.equal('out of memory');
    expect(await ended(35, 0, 60)).to.equal('out of memory');
    expect(await ended(0, 70, 100)).to.equal('out of memory');
  });

  it('is limited for every thread, with a young generation of the same size on every Node', async () => {
    expect(threadLimits(64)).to.deep.equal({
      maxYoungGenerationSizeMb: 48,
      maxOldGenerationSizeMb: 64 + programMb,
    });
    expect(threadLimits(undefined, 8)).to.deep.equal({ maxYoungGenerationSizeMb: 8 });
  });
});
