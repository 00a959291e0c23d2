/**
 * Factor for time limits, so that they only end tests that hang on a slow or busy machine. Set by `QUADPOD_PATIENCE`, otherwise
 * measured when the specs start.
 */
import { createHash } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import Mocha from 'mocha';
import { isThorough } from './speed.js';

const variable = 'QUADPOD_PATIENCE';

/** Duration of the calibration on an idle processor of 2020 plus half, in milliseconds. */
const usual = 150;
const most = 60;

/** Measures the current factor of this machine: 1 if it is fast and idle. */
export function measuredSlowness(): number {
  const block = Buffer.alloc(1 << 20);
  const began = performance.now();
  const hash = createHash('sha256');
  for (let mebibytes = 0; mebibytes < 64; mebibytes++) hash.update(block);
  hash.digest();
  // The block fits into a time slice, also if many processes wait. A full run has a load of two per processor itself.
  const queued = loadavg()[0]! / availableParallelism() / 2;
  return Math.min(most, Math.max(1, Math.round(10 * Math.max((performance.now() - began) / usual, queued)) / 10));
}

function givenSlowness(text: string): number {
  const factor = Number(text);
  if (factor > 0 && Number.isFinite(factor)) return factor;
  throw new Error(`${variable} is ${text}. Set it to a positive factor for time limits, such as 4.`);
}

const atFirst = process.env[variable] ? givenSlowness(process.env[variable]) : measuredSlowness();

/** Factor for asserted durations. Grows with the load average per processor. */
export let slowness = atFirst;
setInterval(() => {
  slowness = atFirst * Math.max(1, loadavg()[0]! / availableParallelism());
}, 1000).unref();

/** Factor for timeouts. A full run loads the machine itself. */
export const patience = atFirst * (isThorough ? 4 : 1);

type Timed = { timeout(ms?: number | string): unknown; _timeoutError(ms: number): Error };
const runnable = Mocha.Runnable.prototype as unknown as Timed;
const { timeout, _timeoutError: timeoutError } = runnable;

// Tests and hooks. Suites only pass their limit on.
runnable.timeout = function (this: Timed, ...[ms]: [ms?: number | string]) {
  return ms === undefined ? timeout.call(this) : timeout.call(this, typeof ms === 'number' ? ms * patience : ms);
};
runnable._timeoutError = function (this: Timed, ms: number) {
  const error = timeoutError.call(this, ms);
  const { message, stack = '' } = error;
  error.message = `${message} Limits are multiplied by ${patience}. Set ${variable}=${Math.ceil(atFirst * 4)} for longer ones.`;
  error.stack = stack.replace(message, () => error.message);
  return error;
};
