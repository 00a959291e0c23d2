/** Thread for work on a replica, such as a checkpoint, so that requests do not wait for it. */
import { acquire, serve, threadData } from '../../tools/threads/worker-host.js';
import { openLevel } from '../level/durable-level.js';
import { Replica } from './replica.js';

const functions = {
  /** Calls `work(replica, task)` of the module at a URL. */
  async run({ module, task }: { readonly module: string; readonly task: unknown }): Promise<void> {
    const { work } = (await import(module)) as { work(replica: Replica, task: unknown): Promise<void> };
    await work(new Replica(await acquire(() => openLevel(threadData as string))), task);
  },
};

export type ReplicaFunctions = typeof functions;

serve(functions);
