/**
 * Attacks on a server process: who makes them, and what others notice of it meanwhile. It must not know what an attack is
 * about.
 */
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { credential, ed25519Identity, type Identity } from './identity.js';
import type { ProberData, Seen } from './prober.js';
import { type ProcessOptions, type ServerProcess, startProcess } from './process.js';

/** Over a quiet run; others that want the processors at the same time would be measured too. */
const isLoaded = (): boolean => loadavg()[0]! > availableParallelism();
const maxStallMs = (): number => (isLoaded() ? 400 : 100);
const maxMoreMb = 300;
/** Threads of the garbage collector come late on a busy machine. */
const moreMemory = (): number => (isLoaded() ? 5 / 3 : 1);

/** A server process with an owner, and everybody else a stranger. */
export async function startOwned(
  owner: Identity,
  environment: Readonly<Record<string, string>> = {},
  options: ProcessOptions = {},
): Promise<ServerProcess> {
  return startProcess({
    ...options,
    environment: { LWS_DEV_OPEN: 'false', LWS_OWNERS: owner.did, LWS_PUBLIC_READ: 'true', ...environment },
  });
}

/** Fields of a request of somebody, a new identity where nobody is named. */
export const by = ({ root }: ServerProcess, who: Identity = ed25519Identity()): Record<string, string> => ({
  Authorization: `Bearer ${credential(who, { aud: root.slice(0, -1) })}`,
});

/** What others notice of some work. */
export interface Impact<T> {
  readonly result: T;
  /** The longest that a GET took beside it. */
  readonly stallMs: number;
  /** The longest that one takes while nothing else is asked. */
  readonly quietMs: number;
  /** By how much more memory the process held at most. */
  readonly moreMb: number;
}

/** Milliseconds of the quiet run. */
const quietMs = 200;

/** Asks for the root again and again, in a thread, while some work continues. */
export async function measureImpact<T>({ root, pid }: ServerProcess, work: () => Promise<T>): Promise<Impact<T>> {
  const prober = new Worker(new URL('./prober.js', import.meta.url), {
    workerData: { url: root, pid } satisfies ProberData,
  });
  const seen = async (): Promise<Seen> => {
    prober.postMessage('now');
    const [answer] = await once(prober, 'message');
    return answer;
  };
  try {
    await once(prober, 'online');
    // What came before it began to measure is forgotten.
    await seen();
    await sleep(quietMs);
    const quiet = await seen();
    const result = await work();
    const { longestMs, maxMb } = await seen();
    return { result, stallMs: longestMs, quietMs: quiet.longestMs, moreMb: maxMb - quiet.maxMb };
  } finally {
    await prober.terminate();
  }
}

/**
 * Others noticed nothing: neither stalls nor memory.
 * @param mostMb memory that the work may take, in MB
 */
export function expectNoImpact({ stallMs, quietMs, moreMb }: Impact<unknown>, mostMb = maxMoreMb): void {
  expect(stallMs, 'the longest GET beside it, in ms').to.be.below(maxStallMs() + quietMs);
  expect(moreMb, 'more memory, in MB').to.be.below(mostMb * moreMemory());
}
