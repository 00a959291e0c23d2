/** How often one address may fail: counted per minute, in memory. It must not know what failed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { LwsError } from '../errors.js';

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
      const state = await limiter.get(keyOf(address));
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
      await limiter.consume(keyOf(address)).catch(() => {});
    },
  };
}

/** An IPv6 network is one client: whoever has one address has 2^64 of them. */
const keyOf = (address: string): string =>
  address.includes(':') && !address.includes('.') ? expand(address).slice(0, 4).join(':') : address;

function expand(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last];
}
