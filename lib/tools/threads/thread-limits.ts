/** Memory limits of the process and its threads. */
import { totalmem } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';

/** Returns the memory available to this process, in bytes: of the machine or of its container. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a limit, `constrained` is 0 or exceeds the memory of the machine.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Scales the size of a cache by the memory: the full size from 2 GiB on, less with less memory. */
export const affordable = (size: number): number => Math.round(size * Math.min(1, memoryOfProcess() / 2 ** 31));

/** Size of the young generation in MiB. Some versions of V8 let it grow to four times this size, and retain it after work. */
const usualNurseryMb = affordable(48);

/** Heap for code and caches in MiB, which is added to the limit of the work. */
export const programMb = 48;

/** Returns the limits of a thread. @param memoryMb limit of the work in MiB; default: V8's limit for a thread */
export const threadLimits = (memoryMb?: number, nurseryMb = usualNurseryMb): ResourceLimits => ({
  maxYoungGenerationSizeMb: nurseryMb,
  ...(memoryMb === undefined ? {} : { maxOldGenerationSizeMb: memoryMb + programMb }),
});
