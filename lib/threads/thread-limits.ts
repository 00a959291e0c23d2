/** What threads may have of memory. */
import type { ResourceLimits } from 'node:worker_threads';

/** MiB of a young generation. Some versions of V8 let it grow to four times as much, and a thread that has worked keeps it. */
const usualNurseryMb = 48;

/** MiB of a heap for programs and what they keep: what work adds is counted from there. */
export const programMb = 48;

/** @param memoryMb what work may add, in MiB; absent: as much as V8 gives a thread */
export const threadLimits = (memoryMb?: number, nurseryMb = usualNurseryMb): ResourceLimits => ({
  maxYoungGenerationSizeMb: nurseryMb,
  ...(memoryMb === undefined ? {} : { maxOldGenerationSizeMb: memoryMb + programMb }),
});
