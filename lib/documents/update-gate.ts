/** Tracks updates whose threads have the LevelDB of a storage open. LevelDB can be closed only when none is running. */
import { beingOpened, untilOpen } from '../storage/level/durable-level.js';
import { getOrMake } from '../tools/collections.js';

/** Thread that has LevelDB open. */
interface Holder {
  end(): Promise<unknown>;
}

interface Gate {
  pauses: number;
  readonly holders: Set<Holder>;
}

/** Paused state and threads by LevelDB directory. All storages of the process share the threads. */
const gates = new Map<string, Gate>();

const gateOf = (folder: string): Gate => getOrMake(gates, folder, () => ({ pauses: 0, holders: new Set() }));

function tidy(folder: string): void {
  const gate = gates.get(folder);
  if (gate?.pauses === 0 && gate.holders.size === 0) gates.delete(folder);
}

/** Runs work in a thread that opens LevelDB. @throws LwsError `too-busy` while updates of the storage are paused */
export async function withLevel<T>(folder: string, thread: Holder, work: () => Promise<T>): Promise<T> {
  const gate = gateOf(folder);
  if (gate.pauses > 0) throw beingOpened();
  gate.holders.add(thread);
  try {
    return await work();
  } finally {
    gate.holders.delete(thread);
    tidy(folder);
  }
}

/** Ends the updates of a storage, and rejects new updates until the returned function is called. */
export async function pauseUpdates(folder: string): Promise<() => void> {
  const gate = gateOf(folder);
  gate.pauses++;
  let isPaused = true;
  await Promise.all([...gate.holders].map((thread) => thread.end()));
  return () => {
    if (isPaused) gate.pauses--;
    isPaused = false;
    tidy(folder);
  };
}

/** Waits up to 5 seconds until updates of the storage are no longer paused. @throws LwsError `too-busy` */
export const untilResumed = (folder: string): Promise<void> => untilOpen(() => !gates.get(folder)?.pauses);
