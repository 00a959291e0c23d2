/** Memory limit of work in a thread (rule 14.7), relative to the memory in use before it. */
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { programMb, threadLimits } from '../../../lib/tools/threads/thread-limits.js';

const limits = new URL('../../../lib/query/limits.js', import.meta.url).href;

/** Output of a thread of 64 MiB with the given MiB in use or as garbage before its work, and the MiB added by the work, in steps of some matches. */
async function ended(kept: number, garbage: number, added: number, work?: number): Promise<string> {
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
          check(${work});
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

describe('Memory limit of work in a thread', () => {
  it('counts the memory that the work adds, whatever was in use before (rule 14.7)', async () => {
    expect(await ended(0, 0, 25)).to.equal('ended');
    expect(await ended(35, 0, 25)).to.equal('ended');
    expect(await ended(0, 70, 25)).to.equal('ended');
  });

  it('stops the work before V8 ends the thread (rule 14.7)', async () => {
    expect(await ended(0, 0, 60)).to.equal('out of memory');
    expect(await ended(35, 0, 60)).to.equal('out of memory');
    expect(await ended(0, 70, 100)).to.equal('out of memory');
  });

  it('is read after many small steps, too (rule 14.7)', async () => {
    expect(await ended(0, 0, 60, 1)).to.equal('out of memory');
  });

  it('applies to every thread, with a young generation of the same size on every Node version', async () => {
    expect(threadLimits(64)).to.deep.equal({
      maxYoungGenerationSizeMb: 48,
      maxOldGenerationSizeMb: 64 + programMb,
    });
    expect(threadLimits(undefined, 8)).to.deep.equal({ maxYoungGenerationSizeMb: 8 });
  });
});
