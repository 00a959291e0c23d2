/** Turns of requests that decide on thousands of resources: others pay for two at a time, whatever number waits. */
import { tooBusy } from '../errors.js';
import { Gate } from '../outbound/gate.js';
import { OutboundError } from '../outbound/outbound-error.js';
import type { Access } from './principal.js';

const limits = { inAll: 2, perHost: 2, perClient: 1, waiting: { perClient: 50, inAll: 500 } };
const gates = new WeakMap<object, Gate>();

/**
 * Runs work that decides on many resources when it is the caller's turn. Callers take turns; all anonymous callers are one.
 * @param store of the decisions
 * @throws LwsError `too-busy` if too many requests wait
 */
export async function inTurn<T>(store: object, { principal }: Access, work: () => Promise<T>): Promise<T> {
  const gate = gates.get(store) ?? new Gate(limits);
  gates.set(store, gate);
  const leave = await gate.enter({ host: '', client: principal?.subject ?? 'anonymous' }).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error;
    throw tooBusy('Too many requests that decide on many resources are waiting.', 5);
  });
  try {
    return await work();
  } finally {
    leave();
  }
}
