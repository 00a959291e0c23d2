/** The error for a client whose write may or may not be on the disk. */
import { LwsError } from '../../errors.js';

/**
 * A commit failed in a way that leaves open whether it is on the disk: a batch may be in LevelDB's log although its sync
 * failed. The blobs that it refers to must stay until LevelDB is opened again, which shows whether the batch is there.
 */
export class CommitInDoubtError extends LwsError {}

export const commitInDoubt = (cause: unknown): LwsError =>
  new CommitInDoubtError(
    'storage-full',
    'The disk did not take this write, and whether it was stored is in doubt until the storage takes writes again. Look again then.',
    { reason: 'the batch could not be written or synced', cause },
  );
