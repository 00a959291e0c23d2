/** The refusal of an update that was ended, in whichever thread that is found. */
import { LwsError } from '../errors.js';

/** @param details what belongs in the log */
export const endedUpdate = (details: { readonly cause?: unknown; readonly reason?: string } = {}): LwsError =>
  new LwsError(
    'update-timeout',
    'The update took too long or too much memory and was ended. Nothing was changed; make its WHERE narrower.',
    details,
  );
