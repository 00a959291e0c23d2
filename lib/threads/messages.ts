/** What a thread and who has it say to each other, and how that fails. */
import { LwsError } from '../errors.js';

/**
 * What a thread serves, by name: a function gets what it is given, and its caller (`Caller` of `serve.ts`). Both sides take the type from
 * the script, and none of its code.
 */
export type Functions = Readonly<Record<string, (given: never, caller: never) => unknown>>;

export type ArgumentsOf<F> = F extends (...given: infer A) => unknown ? A : never;
export type ResultOf<F> = F extends (...given: never[]) => infer R ? Awaited<R> : never;

/**
 * A thread has not done what it was asked for: `busy` (too many are waiting), `closed` (the pool is), `gone` (nobody waits any more),
 * `deadline`, `memory`, `crash` (it has ended for any other reason).
 */
export class ThreadEnded extends Error {
  constructor(
    readonly why: 'busy' | 'closed' | 'gone' | 'deadline' | 'memory' | 'crash',
    cause?: unknown,
  ) {
    super(`Work in a thread was ended: ${why}`, { cause });
    this.name = 'ThreadEnded';
  }
}

/** An error on its way between threads. */
export interface Fault {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly refusal?: Pick<LwsError, 'code' | 'fields'>;
}

export function faultOf(error: unknown): Fault {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  if (!(error instanceof LwsError)) return { name, message, stack };
  const { code, fields } = error;
  return { name, message, refusal: { code, fields } };
}

/** The error again: an `LwsError` is one, any other has its name alone. */
export function errorOf({ name, message, stack, refusal }: Fault): Error {
  if (refusal) return new LwsError(refusal.code, message, { fields: refusal.fields });
  return Object.assign(new Error(message), { name, stack });
}

export type ToThread =
  | { readonly call: number; readonly name: string; readonly given: unknown }
  /** A part of the answer to a call has been taken. */
  | { readonly taken: number }
  | { readonly answered: number; readonly value: unknown }
  /** The thread is to end. */
  | { readonly end: true };

export type FromThread =
  /** It has loaded what it needs. */
  | { readonly ready: true }
  | { readonly call: number; readonly part: unknown }
  | { readonly call: number; readonly question: number; readonly name: string; readonly given: readonly unknown[] }
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: Fault };

/** Numbers that both sides see: whether the thread is to end, and how much it holds that it must not be killed inside of. */
export const [endAt, heldAt] = [0, 1];

export interface ThreadData {
  readonly shared: Int32Array;
  readonly data: unknown;
  readonly niceness: number;
}
