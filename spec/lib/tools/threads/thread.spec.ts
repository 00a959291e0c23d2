/** Errors that the caller of a thread receives when the thread is ended, and when it fails. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { ThreadEnded } from '../../../../lib/tools/threads/messages.js';
import { priority, Thread } from '../../../../lib/tools/threads/thread.js';
import type { WaitingFunctions } from './waiting-thread.js';

const made = (): Thread<WaitingFunctions> =>
  new Thread({ script: new URL('./waiting-thread.js', import.meta.url), limits: {} });

const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('It succeeded.'),
    (error) => error as Error,
  );

describe('A thread', () => {
  it('reports a call as interrupted, not failed, if the thread is ended during it', async () => {
    const thread = made();
    let asked = (): void => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const wait = (): Promise<void> => {
      asked();
      return new Promise(() => {});
    };
    const failure = failureOf(thread.call('ask', undefined, { answers: { wait } }));
    await isAsked;
    await thread.end();
    expect(await failure).to.be.instanceOf(ThreadEnded);
    expect(await failureOf(thread.call('refuse', undefined))).to.be.instanceOf(ThreadEnded);
  });

  it('has a lower priority than the HTTP thread if requested (Linux)', async function () {
    if (process.platform !== 'linux') this.skip();
    const before = priority.niceness;
    priority.niceness = 10;
    const thread = made();
    priority.niceness = before;
    await failureOf(thread.call('refuse', undefined));
    // proc(5): the 19th field of stat is the nice value. The second one, a name, ends with the last parenthesis.
    const niceOf = (task: string): number =>
      Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[16]);
    expect(readdirSync('/proc/self/task').map(niceOf)).to.include(Math.max(10, niceOf(String(process.pid))));
    await thread.end();
  });

  it('reports name and message of the error if the thread fails', async () => {
    const thread = made();
    const failure = await failureOf(thread.call('refuse', undefined));
    expect(failure).not.to.be.instanceOf(ThreadEnded);
    expect([failure.name, failure.message]).to.deep.equal(['RangeError', 'a fault of its own']);
    await thread.end();
  });
});
