/** Why a query got no answer. */
import { LwsError } from '../../../lib/component/basics.js';
import { ThreadEnded } from '../../../lib/component/threads.js';

/** What a client is told of it. */
export function refusalOf(error: unknown, limits: { readonly timeoutMs: number }): unknown {
  if (!(error instanceof ThreadEnded)) return error;
  switch (error.why) {
    case 'gone':
      return gone();
    case 'deadline':
      return timeout(limits);
    case 'memory':
      return outOfMemory(error);
    case 'crash':
      return interrupted(error);
    default:
      return tooBusy();
  }
}

const tooBusy = (): LwsError =>
  new LwsError('too-busy', 'Too many queries are waiting. Try again in a moment.', { fields: { 'Retry-After': '5' } });
export const timeout = ({ timeoutMs }: { readonly timeoutMs: number }): LwsError =>
  new LwsError(
    'query-limit',
    `The query took longer than ${timeoutMs / 1000} seconds and was ended. Make it narrower.`,
  );
export const outOfMemory = (cause?: Error): LwsError =>
  new LwsError('query-limit', 'The query needed too much memory and was ended. Make it narrower.', { cause });
export const interrupted = (cause?: Error): LwsError =>
  new LwsError('too-busy', 'The query was interrupted. Try again.', { cause, fields: { 'Retry-After': '1' } });
const gone = (): LwsError => new LwsError('query-limit', 'The client went away.');
