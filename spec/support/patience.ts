/**
 * How much longer limits of time are here than they are written: on a slow or busy machine they only have to end what hangs.
 * `QUADPOD_PATIENCE` says it; without it, it is measured when the specs start.
 */
import { createHash } from 'node:crypto';
import { availableParallelism, loadavg } from 'node:os';
import Mocha from 'mocha';
import { isThorough } from './speed.js';

const variable = 'QUADPOD_PATIENCE';

/** Milliseconds that the work of the calibration takes on a processor of 2020 that has time for it, and half as long again. */
const usual = 150;
const most = 60;

/** The factor of this machine as it is now: 1 where it is fast and has nothing else to do. */
export function measuredSlowness(): number {
  const block = Buffer.alloc(1 << 20);
  const began = performance.now();
  const hash = createHash('sha256');
  for (let mebibytes = 0; mebibytes < 64; mebibytes++) hash.update(block);
  hash.digest();
  return Math.min(most, Math.max(1, Math.round((10 * (performance.now() - began)) / usual) / 10));
}

function givenSlowness(text: string): number {
  const factor = Number(text);
  if (factor > 0 && Number.isFinite(factor)) return factor;
  throw new Error(`${variable} is ${text}; expected a factor of time limits, such as 4.`);
}

const atFirst = process.env[variable] ? givenSlowness(process.env[variable]) : measuredSlowness();

/** The factor of what is asserted about durations; it grows with the number of threads that want each processor at the time. */
export let slowness = atFirst;
setInterval(() => {
  slowness = atFirst * Math.max(1, loadavg()[0]! / availableParallelism());
}, 1000).unref();

/** The factor of what ends waiting: with everything running at once the machine is loaded by that. */
export const patience = atFirst * (isThorough ? 4 : 1);

type Timed = { timeout(ms?: number | string): unknown; _timeoutError(ms: number): Error };
const runnable = Mocha.Runnable.prototype as unknown as Timed;
const { timeout, _timeoutError: timeoutError } = runnable;

// Of tests and hooks alike, wherever their limit is written. Suites only hand it on.
runnable.timeout = function (this: Timed, ...[ms]: [ms?: number | string]) {
  return ms === undefined ? timeout.call(this) : timeout.call(this, typeof ms === 'number' ? ms * patience : ms);
};
runnable._timeoutError = function (this: Timed, ms: number) {
  const error = timeoutError.call(this, ms);
  const { message, stack = '' } = error;
  error.message = `${message} Limits are ${patience} times what is written; ${variable}=${Math.ceil(atFirst * 4)} makes them longer.`;
  error.stack = stack.replace(message, () => error.message);
  return error;
};
