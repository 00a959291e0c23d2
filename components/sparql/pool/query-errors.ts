/** Why a query got no answer. */
import { LwsError } from '../../../lib/component/basics.js';
import type { FromQueryWorker } from './messages.js';

export function refusalOf({ code, message, stack }: Extract<FromQueryWorker, { fault: unknown }>['fault']): Error {
  if (code === 'too-busy') return interrupted();
  if (code !== undefined) return new LwsError(code, message);
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

export const tooBusy = (): LwsError =>
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
export const gone = (): LwsError => new LwsError('query-limit', 'The client went away.');
