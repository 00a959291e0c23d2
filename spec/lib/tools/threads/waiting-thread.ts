/** Script of a thread that holds memory and waits for its caller. */
import { acquire, type Caller, serve } from '../../../../lib/tools/threads/worker-host.js';

const opened = acquire(async () => ({ close: async () => {} }));

const functions = {
  /** Repeats until the thread is asked to end. */
  async ask(_: undefined, caller: Caller<{ wait: () => Promise<void> }, never>): Promise<void> {
    await opened;
    await caller.ask('wait');
  },
  /** Belongs to another pool from here on. */
  async turnTo(): Promise<void> {},
  /** Blocks for this number of milliseconds. */
  async last(ms: number): Promise<void> {
    await opened;
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
  async refuse(): Promise<void> {
    await opened;
    throw new RangeError('a fault of its own');
  },
};

export type WaitingFunctions = typeof functions;

serve(functions);
