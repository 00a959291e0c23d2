/** Errors that end a query. */
import { LwsError, tooBusy } from '../../../lib/tools/errors.js';
import { ThreadEnded } from '../../../lib/tools/threads/messages.js';
import type { TimeLimit } from './messages.js';

/** Returns the error for the client. */
export function refusalOf(error: unknown, limit: TimeLimit): unknown {
  if (!(error instanceof ThreadEnded)) return error;
  const { why } = error;
  if (why === 'gone') return new LwsError('query-limit', 'The client disconnected.');
  if (why === 'deadline') return timeout(limit);
  if (why === 'memory') return outOfMemory(error);
  return why === 'crash' ? interrupted(error) : tooMany();
}

const tooMany = (): LwsError => tooBusy('The query queue is full. Retry in a few seconds.', 5);
export const timeout = ({ timeoutMs, by }: TimeLimit): LwsError =>
  new LwsError(
    'query-limit',
    `The query exceeded the time limit of ${timeoutMs / 1000} seconds (${by}). Make it more selective.`,
  );
export const outOfMemory = (cause?: Error): LwsError =>
  new LwsError(
    'query-limit',
    'The query exceeded the memory limit (lws.sparql.endpoint.memory-mb). Make it more selective.',
    { cause },
  );
export const interrupted = (cause?: Error): LwsError => tooBusy('The query was interrupted. Retry.', 1, { cause });
export const catchingUp = (cause: Error): LwsError =>
  tooBusy(
    'Many graphs have changed, and the index for queries does not include them yet. Retry in a few seconds, or name the graphs to read.',
    5,
    { cause },
  );
