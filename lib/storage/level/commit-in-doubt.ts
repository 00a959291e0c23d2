/** Errors for a client whose write is in doubt. */
import { LwsError } from '../../tools/errors.js';

/**
 * Error of a commit in doubt: its batch may be in LevelDB's log although its sync failed, or in the database of several servers
 * although the connection was lost. Its blobs must be kept until LevelDB is reopened or the database is read. Either shows if
 * the commit was stored.
 */
export class CommitInDoubtError extends LwsError {}

export const commitInDoubt = (cause: unknown): LwsError =>
  new CommitInDoubtError(
    'storage-full',
    'The disk did not confirm this write. It is in doubt until the storage accepts writes again. Check then if it was stored.',
    { reason: 'the batch could not be written or synced', cause },
  );

/** Converts an error of a commit that may have been stored. */
export const asInDoubt = ({ code, message, cause, reason, fields }: LwsError): CommitInDoubtError =>
  new CommitInDoubtError(code, message, { cause, fields, ...(reason === undefined ? {} : { reason }) });
