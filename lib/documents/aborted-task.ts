/** The refusals of tasks that a thread did not end by itself. */
import { LwsError } from '../errors.js';
import type { Task, TaskAborted } from '../threads/worker-task.js';
import { endedUpdate } from './ended-update.js';

/** What a client is told. */
export function abortedTask(task: Task, error: TaskAborted): LwsError {
  const details = { cause: error, reason: `the worker task ${task.name} was ended: ${error.why}` };
  if (error.why === 'busy' || error.why === 'closed')
    return new LwsError('too-busy', 'The server has too much of such work waiting. Try again in a moment.', {
      ...details,
      fields: { 'Retry-After': '5' },
    });
  if (error.why === 'crash')
    return new LwsError('too-busy', 'The work was interrupted. Nothing was changed; try again.', details);
  if (task.name === 'update') return endedUpdate(details);
  return new LwsError(
    'update-timeout',
    'The document took too long or too much memory to process. Nothing was changed; split it.',
    details,
  );
}
