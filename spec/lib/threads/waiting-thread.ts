/** The script of a thread that holds something and waits for its caller. */
import { acquire, type Caller, serve } from '../../../lib/threads/worker-host.js';

const opened = acquire(async () => ({ close: async () => {} }));

const functions = {
  /** Asks until it is told to end. */
  async ask(_: undefined, caller: Caller<{ wait: () => Promise<void> }, never>): Promise<void> {
    await opened;
    await caller.ask('wait');
  },
  /** Is another pool's from here on. */
  async turnTo(): Promise<void> {},
  /** Takes so many milliseconds. */
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
