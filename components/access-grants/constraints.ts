/** Constraints of policies (rule 17.5): all must hold, and whatever is not understood or cannot be compared does not. Pure. */
import type { Access } from '../../lib/component/access.js';
import { parseDateTime } from '../../lib/component/fields.js';
import type { Constraint } from './access-documents.js';

/** Those that depend on the request alone are known before any resource is. */
const ofRequest: ReadonlySet<string> = new Set(['dateTime', 'client', 'purpose']);
const ofResource: ReadonlySet<string> = new Set(['format', 'mediaType', 'type']);

export const isOfRequest = ({ leftOperand }: Constraint): boolean => ofRequest.has(leftOperand);

/** Whether a constraint on the request holds. */
export function requestFulfils(
  { leftOperand, operator, rightOperand }: Constraint,
  access: Access,
  now: number,
): boolean {
  if (!rightOperand) return false;
  if (leftOperand === 'dateTime')
    return rightOperand.length === 1 && compareTimes(operator, now, parseDateTime(rightOperand[0]!));
  const value = leftOperand === 'client' ? access.principal?.client : access.purpose;
  return compareSets(operator, value === undefined ? [] : purposes(leftOperand, value), rightOperand);
}

/** `LWS-Purpose` may name several. */
const purposes = (operand: string, value: string): readonly string[] =>
  operand === 'purpose' ? value.split(/[\s,]+/).filter(Boolean) : [value];

export interface ResourceFacts {
  /** The media type without parameters; absent for a container. */
  readonly format: string | undefined;
  /** IRIs, and the short name of the structural type. */
  readonly types: readonly string[];
}

/** Whether a constraint on the resource holds; an operand that nobody knows never does. */
export function resourceFulfils({ leftOperand, operator, rightOperand }: Constraint, facts: ResourceFacts): boolean {
  if (!rightOperand || !ofResource.has(leftOperand)) return false;
  const left = leftOperand === 'type' ? facts.types : facts.format === undefined ? [] : [facts.format];
  return compareSets(operator, left, rightOperand);
}

function compareTimes(operator: string, now: number, then: number): boolean {
  // A date that is none is NaN, and no comparison with that holds.
  if (operator === 'lt') return now < then;
  if (operator === 'lteq') return now <= then;
  if (operator === 'gt') return now > then;
  return operator === 'gteq' && now >= then;
}

/** A comparison with something absent fails, `neq` and `isNoneOf` included. */
function compareSets(operator: string, left: readonly string[], right: readonly string[]): boolean {
  if (left.length === 0) return false;
  const any = right.some((value) => left.includes(value));
  if (operator === 'isAnyOf') return any;
  if (operator === 'isNoneOf') return !any;
  if (operator === 'isAllOf') return right.every((value) => left.includes(value));
  if (right.length !== 1) return false;
  if (operator === 'eq') return any;
  return operator === 'neq' && !any;
}
