/** Script of a thread that fills its heap. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { releaseMemoryWhenIdle } from '../../../../lib/tools/threads/idle-memory.js';
import { serve } from '../../../../lib/tools/threads/worker-host.js';

const lookMs = 400;
const fill = (): object[] => Array.from({ length: 500_000 }, (_, index) => ({ index, text: `${index}` }));
const mib = (): number => Math.round(getHeapStatistics().total_physical_size / 2 ** 20);

const functions = {
  /** MiB of the heap when it is full of garbage, and after some samples: idle, or with work in between. */
  async filled({ isAtWork }: { readonly isAtWork: boolean }): Promise<readonly [full: number, later: number]> {
    fill();
    const full = mib();
    const until = Date.now() + 5 * lookMs;
    if (!isAtWork) await sleep(5 * lookMs);
    else for (; Date.now() < until; await sleep(5)) for (const busy = Date.now() + 5; Date.now() < busy; );
    return [full, mib()];
  },
};

export type FilledFunctions = typeof functions;

releaseMemoryWhenIdle(lookMs);
serve(functions);
