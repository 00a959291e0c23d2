/** Messages between a worker thread and its owner, and their errors. */
import { LwsError } from '../errors.js';

/**
 * Functions of a worker thread by name. Each gets an argument and its caller (`Caller` of `worker-host.ts`). Both sides import
 * only the type of the script, not its code.
 */
export type Functions = Readonly<Record<string, (given: never, caller: never) => unknown>>;

export type ArgumentsOf<F> = F extends (...given: infer A) => unknown ? A : never;
export type ResultOf<F> = F extends (...given: never[]) => infer R ? Awaited<R> : never;

/**
 * Thrown if a thread did not complete its work: `busy` (too many calls wait), `closed` (the pool), `gone` (the caller
 * disconnected), `deadline`, `memory`, `crash` (any other end of the thread).
 */
export class ThreadEnded extends Error {
  constructor(
    readonly why: 'busy' | 'closed' | 'gone' | 'deadline' | 'memory' | 'crash',
    cause?: unknown,
  ) {
    super(`The work of a worker thread ended: ${why}`, { cause });
    this.name = 'ThreadEnded';
  }
}

/** Serialized error. */
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

/** Restores the error: an `LwsError` completely, any other error with its name only. */
export function errorOf({ name, message, stack, refusal }: Fault): Error {
  if (refusal) return new LwsError(refusal.code, message, { fields: refusal.fields });
  return Object.assign(new Error(message), { name, stack });
}

export type ToThread =
  | { readonly call: number; readonly name: string; readonly given: unknown }
  /** The owner has consumed a part of the result of this call. */
  | { readonly taken: number }
  | { readonly answered: number; readonly value: unknown }
  /** Tells the thread to end. */
  | { readonly end: true };

export type FromThread =
  /** The thread has loaded its modules. */
  | { readonly ready: true }
  | { readonly call: number; readonly part: unknown }
  | { readonly call: number; readonly question: number; readonly name: string; readonly given: readonly unknown[] }
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly fault: Fault };

/** Indexes of the shared counters: end requested, and number of open resources that forbid a kill. */
export const [endAt, heldAt] = [0, 1];

export interface ThreadData {
  readonly shared: Int32Array;
  readonly data: unknown;
  readonly niceness: number;
}
