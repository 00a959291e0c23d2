/** What was decided of a request's writes and refusals, to be told in its log line. */
import type { Transaction } from '../storage/transactions/transaction.js';
import type { Decision } from './authorizer.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

export interface DecisionRecord {
  readonly mode: Mode;
  readonly target: string;
  readonly granted: boolean;
  readonly rule: string;
}

const records = new WeakMap<Access, DecisionRecord>();

/**
 * Remembers a decision; of several of one request the last one counts, which is the one inside the transaction. Whether a
 * refused caller may at least read only decides how it is told.
 */
export function recordDecision(access: Access, mode: Mode, target: string, { allowed, rule }: Decision): void {
  if (mode === 'read' && (allowed || records.has(access))) return;
  records.set(access, { mode, target, granted: allowed, rule });
}

export const decisionOf = (access: Access): DecisionRecord | undefined => records.get(access);

/** Says whose request a transaction is, for those who are notified of it. */
export function attribute(tx: Transaction, { principal, trace }: Access): void {
  tx.actor = principal?.subject;
  tx.trace = trace;
}
