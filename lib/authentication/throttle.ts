/** How often one address may fail: counted per minute, in memory. It must not know what failed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { LwsError } from '../errors.js';
import { clientOf } from '../fields/client-address.js';

export interface Throttle {
  /** @throws LwsError `too-many-requests` when the address has no attempts left in this minute */
  assertOpen(address: string): Promise<void>;
  /** Counts an attempt. */
  count(address: string): Promise<void>;
}

const seconds = 60;
/** Milliseconds by which refusals are late. */
const lateMs = 100;

/** @param perMinute attempts of one address; 0: no bound */
export function throttle(perMinute: number): Throttle {
  if (perMinute === 0) return { assertOpen: async () => {}, count: async () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: seconds });
  return {
    async assertOpen(address) {
      const state = await limiter.get(clientOf(address));
      if (!state || state.consumedPoints < perMinute) return;
      // Who waits for an answer before the next attempt is slowed down by a late one.
      await sleep(lateMs);
      const wait = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
      throw new LwsError('too-many-requests', `Too many attempts of your address. Try again in ${wait} seconds.`, {
        reason: `${state.consumedPoints} attempts of ${address} within ${seconds} s`,
        fields: { 'Retry-After': String(wait) },
      });
    },
    async count(address) {
      // Rejects, with its own kind of result, when the points are used up; the next `assertOpen` says so.
      await limiter.consume(clientOf(address)).catch(() => {});
    },
  };
}
