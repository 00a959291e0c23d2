/** Why a query got no answer. */
import { LwsError, tooBusy } from '../../../lib/errors.js';
import { ThreadEnded } from '../../../lib/threads/messages.js';
import type { TimeLimit } from './messages.js';

/** What a client is told of it. */
export function refusalOf(error: unknown, limit: TimeLimit): unknown {
  if (!(error instanceof ThreadEnded)) return error;
  const { why } = error;
  if (why === 'gone') return new LwsError('query-limit', 'The client went away.');
  if (why === 'deadline') return timeout(limit);
  if (why === 'memory') return outOfMemory(error);
  return why === 'crash' ? interrupted(error) : tooMany();
}

const tooMany = (): LwsError => tooBusy('Too many queries are waiting. Try again in a moment.', 5);
export const timeout = ({ timeoutMs, by }: TimeLimit): LwsError =>
  new LwsError(
    'query-limit',
    `The query took longer than ${timeoutMs / 1000} seconds (${by}) and was ended. Make it narrower.`,
  );
export const outOfMemory = (cause?: Error): LwsError =>
  new LwsError(
    'query-limit',
    'The query needed too much memory (lws.sparql.endpoint.memory-mb) and was ended. Make it narrower.',
    { cause },
  );
export const interrupted = (cause?: Error): LwsError => tooBusy('The query was interrupted. Try again.', 1, { cause });
