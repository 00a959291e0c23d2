/** Error for a client whose write is in doubt. */
import { LwsError } from '../../errors.js';

/**
 * A commit failed in doubt: a batch may be in LevelDB's log although its sync failed. Its blobs must stay until LevelDB has been
 * reopened, which shows if the batch is there.
 */
export class CommitInDoubtError extends LwsError {}

export const commitInDoubt = (cause: unknown): LwsError =>
  new CommitInDoubtError(
    'storage-full',
    'The disk did not confirm this write. It is in doubt until the storage accepts writes again. Check then if it was stored.',
    { reason: 'the batch could not be written or synced', cause },
  );
