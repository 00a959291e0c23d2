/** Queues requests that evaluate thousands of permissions. Two run at a time, so that other requests are not delayed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getOrMake } from '../tools/collections.js';
import { tooBusy } from '../tools/errors.js';
import { Gate } from '../tools/gate.js';
import type { Authorizer, View } from './authorizer.js';
import { clientFor, connectionOf, priorityOf } from './client.js';
import type { Access } from './principal.js';

/**
 * Limits of the queue. Strangers get at most one of the two slots, and have a separate queue, because they can create
 * identities. Strangers at the same address are one client, and each identity can use half of this client's queue.
 */
const limits = {
  all: { inAll: 2, perHost: 2, perClient: 1, waiting: { perClient: 50, inAll: 500 } },
  strangers: { inAll: 1, perHost: 1, waiting: { perIdentity: 25, perClient: 50, inAll: 250 } },
};

interface Gates {
  readonly all: Gate;
  readonly strangers: Gate;
  /** Count of requests that have yielded and wait to continue. */
  paused: number;
}

/** Time after which a request yields to other requests, in milliseconds, and maximum count of paused requests. */
const [longestTurnMs, maxPaused] = [50, 4];

/** Function to call between steps of long work, to yield to other requests. @throws the reason if the client disconnects */
export type Pause = () => Promise<void>;

const gates = new WeakMap<object, Gates>();
const busy = () => tooBusy('Too many requests that decide on many resources are waiting.', 5);

function gatesOf(store: object): Gates {
  const gate = (kind: keyof typeof limits): Gate => new Gate(limits[kind], busy);
  return getOrMake(gates, store, () => ({ all: gate('all'), strangers: gate('strangers'), paused: 0 }));
}

/**
 * Queues the caller, then runs work that evaluates many permissions. Callers are served by caller class, then round robin
 * between clients.
 * @throws LwsError `too-busy` if too many requests wait; an error if the client disconnects while it waits
 */
export async function inTurn<T>(
  storage: { readonly authorizer: Authorizer; readonly store: View },
  access: Access,
  work: (pause: Pause) => Promise<T>,
): Promise<T> {
  const connection = connectionOf(access);
  const { client, callerClass } = await clientFor(storage, access, connection?.address ?? '');
  const gates = gatesOf(storage.store);
  const turn = { host: '', client, identity: access.principal?.subject, rank: priorityOf(callerClass) };
  const gone = connection?.whenGone();
  const left: (() => void)[] = [];
  let began = 0;
  const enter = async (isAgain: boolean): Promise<void> => {
    const own = { ...turn, isAgain };
    if (callerClass === 'stranger') left.push(await gates.strangers.enter(own, gone?.signal));
    left.push(await gates.all.enter(own, gone?.signal));
    began = performance.now();
  };
  const leave = (): void => {
    for (const each of left.splice(0).reverse()) each();
  };
  const pause = async (): Promise<void> => {
    if (performance.now() - began < longestTurnMs || gates.paused >= maxPaused) return;
    gates.paused++;
    leave();
    await enter(true).finally(() => gates.paused--);
  };
  try {
    await enter(false);
    return await work(pause);
  } finally {
    leave();
    gone?.release();
  }
}

const shortestStepMs = 50;

/**
 * Waits until a multiple of a duration has passed since `began`, a time of `performance.now()`. Otherwise, the response time
 * would reveal how many resources the caller cannot read.
 * @param stepMs the duration in milliseconds. Default and minimum: 50
 */
export function untilNextStep(began: number, stepMs = 0): Promise<void> {
  const step = Math.max(stepMs, shortestStepMs);
  return sleep(step - ((performance.now() - began) % step));
}
