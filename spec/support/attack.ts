/** Attacks on a server process: callers, and the effect on other clients. Independent of the kind of attack. */
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { credential, ed25519Identity, type Identity } from './identity.js';
import type { ProberData, Seen } from './prober.js';
import { type ProcessOptions, type ServerProcess, startProcess } from './process.js';

/** True if other processes compete for the processors. */
const isLoaded = (): boolean => loadavg()[0]! > availableParallelism();
const maxStallMs = 100;
/** Limit of the CPU time of the server's main thread. It is higher on a loaded machine, where caches are cold. */
const maxCpuMs = (): number => (isLoaded() ? 200 : 100);
const maxMoreMb = 300;
/** On a loaded machine, garbage collection is late: 767 MB were seen at a load of 10 on two processors. */
const moreMemory = (): number => (isLoaded() ? 7 / 2 : 1);

/** Starts a server process with one owner and public read access. All other callers have no grants. */
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

/** Returns the Authorization field of an identity. Default: a new identity. */
export const by = ({ root }: ServerProcess, who: Identity = ed25519Identity()): Record<string, string> => ({
  Authorization: `Bearer ${credential(who, { aud: root.slice(0, -1) })}`,
});

/**
 * Sends requests whose outbound fetches hang. Asserts that few connections are used, that the requests get 401, 429 or 503, and that
 * other clients see no effect.
 * @param most returns the greatest number of concurrent fetches
 */
export async function expectFewFetches(
  server: ServerProcess,
  most: () => number,
  sends: readonly (() => Promise<{ readonly status: number }>)[],
): Promise<void> {
  const impact = await measureImpact(server, async () => {
    const attack: Promise<{ readonly status: number }>[] = [];
    for (const send of sends) {
      attack.push(send());
      // Responding to so many in one turn would take 100 ms.
      await sleep(1);
    }
    return (await Promise.all(attack)).map(({ status }) => status);
  });
  expect(most()).to.be.above(0).and.at.most(8);
  const statuses = new Set(impact.result);
  expect([...statuses].filter((status) => status !== 401 && status !== 429 && status !== 503)).to.deep.equal([]);
  expect(statuses).to.include(503);
  expectNoImpact(impact);
}

/** Effect of some work on other clients. */
export interface Impact<T> {
  readonly result: T;
  /** Longest GET during the work, in milliseconds. */
  readonly stallMs: number;
  /** Maximum CPU time in milliseconds that the server's main thread used during a GET. */
  readonly cpuMs: number;
  /** Longest GET without other load, in milliseconds. */
  readonly quietMs: number;
  /** Growth of the resident memory, in MB. */
  readonly moreMb: number;
}

/** Duration of the quiet run, in milliseconds. */
const quietMs = 200;

/** Polls the root from a worker thread while the work runs. */
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
    // Discard the measurements of the warm-up.
    await seen();
    await sleep(quietMs);
    const quiet = await seen();
    const result = await work();
    const { longestMs, mostCpuMs, maxMb } = await seen();
    const times = { stallMs: longestMs, cpuMs: mostCpuMs, quietMs: quiet.longestMs };
    return { result, ...times, moreMb: maxMb - quiet.maxMb };
  } finally {
    await prober.terminate();
  }
}

/**
 * Asserts that other clients saw neither stalls nor a growth of memory. On a loaded machine only the CPU time counts: the main
 * thread also waits for threads of the garbage collector that have no processor.
 * @param mostMb limit of the growth, in MB
 */
export function expectNoImpact({ stallMs, cpuMs, quietMs, moreMb }: Impact<unknown>, mostMb = maxMoreMb): void {
  expect(cpuMs, 'CPU time of the main thread during a GET, in ms').to.be.below(maxCpuMs() + quietMs);
  if (!isLoaded()) expect(stallMs, 'longest GET during the work, in ms').to.be.below(maxStallMs + quietMs);
  expect(moreMb, 'growth of memory, in MB').to.be.below(mostMb * moreMemory());
}
