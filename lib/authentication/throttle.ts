/** Limits failed attempts per address and minute. Counts in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { LwsError } from '../tools/errors.js';
import { clientOf } from '../tools/fields/client-address.js';

export interface Throttle {
  /** Asserts that the address has attempts left in this minute. @throws LwsError `too-many-requests` */
  assertOpen(address: string): Promise<void>;
  /** Counts a failed attempt. */
  count(address: string): Promise<void>;
  /**
   * Counts an attempt before it is made, so that concurrent attempts cannot exceed the limit.
   * @returns a function that refunds the attempt
   * @throws LwsError as `assertOpen`
   */
  begin(address: string): Promise<() => Promise<void>>;
}

const seconds = 60;
/** Delay of the error after too many attempts, in milliseconds. */
const lateMs = 100;

const uncounted = async (): Promise<void> => {};

/** Divisor of the limit per address when the total limit is reached, so that clients with few attempts are not locked out. */
const scarcePart = 15;

/**
 * Creates a rate limiter.
 * @param perMinute attempts of one address, or 0 for no limit
 * @param inAll attempts of all addresses in a minute. Above this limit, each address has a fifteenth of `perMinute`
 */
export function throttle(perMinute: number, inAll = Number.MAX_SAFE_INTEGER): Throttle {
  if (perMinute === 0) return { assertOpen: uncounted, count: uncounted, begin: async () => uncounted };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: seconds });
  const [all, everybody] = [new RateLimiterMemory({ points: inAll, duration: seconds }), 'all'];
  const refuse = async (address: string, { consumedPoints, msBeforeNext }: RateLimiterRes): Promise<never> => {
    // The rejection is delayed, which slows down clients that wait for each response.
    await sleep(lateMs);
    const wait = Math.max(1, Math.ceil(msBeforeNext / 1000));
    throw new LwsError('too-many-requests', `Too many attempts from your address. Retry in ${wait} seconds.`, {
      reason: `${consumedPoints} attempts of ${address} within ${seconds} s`,
      fields: { 'Retry-After': String(wait) },
    });
  };
  /** Counts an attempt. The library rejects with a result object if no points are left. */
  const consume = (key: string): Promise<RateLimiterRes> =>
    limiter.consume(key).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) return error;
      throw error;
    });
  return {
    async assertOpen(address) {
      const state = await limiter.get(clientOf(address));
      if (state && state.consumedPoints >= perMinute) await refuse(address, state);
    },
    async count(address) {
      await consume(clientOf(address));
    },
    async begin(address) {
      const key = clientOf(address);
      const takeBack = async (): Promise<void> => {
        await Promise.all([limiter.reward(key), all.reward(everybody)]);
      };
      const [state, { consumedPoints }] = await Promise.all([consume(key), all.penalty(everybody)]);
      const most = consumedPoints > inAll ? Math.ceil(perMinute / scarcePart) : perMinute;
      if (state.consumedPoints <= most) return takeBack;
      await takeBack();
      return refuse(address, state);
    },
  };
}
