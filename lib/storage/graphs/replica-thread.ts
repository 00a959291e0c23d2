/** Starts threads for work on a replica. */
import { Thread } from '../../tools/threads/thread.js';
import { threadLimits } from '../../tools/threads/thread-limits.js';
import type { ReplicaFunctions } from './replica-worker.js';

const script = new URL('./replica-worker.js', import.meta.url);
/** Maximum time for the thread to end if the server stops during its work, in milliseconds. */
const graceMs = 1_000;

/** Starts a thread. @param data directory of the LevelDB */
export const newReplicaThread = (data: string): Thread<ReplicaFunctions> =>
  new Thread({ script, limits: threadLimits(), graceMs, data });
