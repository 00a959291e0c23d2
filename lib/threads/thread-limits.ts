/** What a process and its threads may have of memory. */
import { totalmem } from 'node:os';
import type { ResourceLimits } from 'node:worker_threads';

/** Bytes of memory that this process has: of the machine, or of what holds it. */
export function memoryOfProcess(): number {
  const constrained = process.constrainedMemory();
  // Without a constraint, it is 0 or more than the machine has.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** What to take of a size that only saves time: all of it with 2 GiB of memory, and less where there is less. */
export const affordable = (size: number): number => Math.round(size * Math.min(1, memoryOfProcess() / 2 ** 31));

/** MiB of a young generation. Some versions of V8 let it grow to four times as much, and a thread that has worked keeps it. */
const usualNurseryMb = affordable(48);

/** MiB of a heap for programs and what they keep: what work adds is counted from there. */
export const programMb = 48;

/** @param memoryMb what work may add, in MiB; absent: as much as V8 gives a thread */
export const threadLimits = (memoryMb?: number, nurseryMb = usualNurseryMb): ResourceLimits => ({
  maxYoungGenerationSizeMb: nurseryMb,
  ...(memoryMb === undefined ? {} : { maxOldGenerationSizeMb: memoryMb + programMb }),
});
