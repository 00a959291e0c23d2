/** Records the decisions about writes and rejected requests, for the log line of the request. */

import type { Transaction } from '../storage/transactions/transaction.js';
import { HiddenField } from '../tools/hidden-field.js';
import type { Decision } from './authorizer.js';
import type { Mode } from './mode.js';
import type { Access } from './principal.js';

export interface DecisionRecord {
  readonly mode: Mode;
  readonly target: string;
  readonly granted: boolean;
  readonly rule: string;
}

const records = new HiddenField<Access, DecisionRecord>();

/**
 * Records a decision. The last decision of a request counts, which is made inside the transaction. Later checks of read access
 * are not recorded, because they only select the error.
 */
export function recordDecision(access: Access, mode: Mode, target: string, { allowed, rule }: Decision): void {
  if (mode === 'read' && (allowed || records.get(access))) return;
  records.set(access, { mode, target, granted: allowed, rule });
}

export const decisionOf = (access: Access): DecisionRecord | undefined => records.get(access);

/** Sets the caller of a transaction, for notifications and for listeners that check permissions. */
export function attribute(tx: Transaction, access: Access): void {
  tx.actor = access.principal?.subject;
  tx.trace = access.trace;
  tx.caller = access;
}

/** Returns the caller of a transaction, or `undefined` for a transaction of the server itself. */
export const callerOf = (tx: Transaction): Access | undefined => tx.caller as Access | undefined;
