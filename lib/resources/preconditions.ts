/** Conditional requests (RFC 9110 section 13). Pure checks, run inside the transaction of the write. */
import { LwsError } from '../tools/errors.js';
import type { EntityTag } from '../tools/fields/etag.js';
import type { StateCondition } from '../tools/fields/if-states.js';

export interface Preconditions {
  readonly ifMatch?: '*' | readonly EntityTag[] | undefined;
  readonly ifNoneMatch?: '*' | readonly EntityTag[] | undefined;
  /** Times of the date preconditions, in milliseconds since the epoch. */
  readonly ifModifiedSince?: number | undefined;
  readonly ifUnmodifiedSince?: number | undefined;
  /** Condition lists of the `If` field for the target. One list must hold (RFC 4918 10.4). */
  readonly stateLists?: readonly (readonly StateCondition[])[] | undefined;
}

/** Time at which a state of a resource began. */
export interface Dated {
  /** Start of the state, in milliseconds since the epoch. */
  readonly modified: number;
  /** True if the previous state began in the same second, so that `Last-Modified` is the same (RFC 9110 8.8.2.2). */
  readonly sharesSecond?: true | undefined;
}

/** Returns the date of a state that replaces `before`: always later, even if the clock was set back. */
export function dateAfter(before: Dated | undefined, now: number): Dated {
  if (!before) return { modified: now };
  const modified = Math.max(now, before.modified + 1);
  return wholeSeconds(modified) === wholeSeconds(before.modified) ? { modified, sharesSecond: true } : { modified };
}

/** Date of a state that date preconditions never match. */
export const undated: Dated = { modified: Number.POSITIVE_INFINITY };

/** Returns the state with a new date, for a state that replaces `before`. */
export function datedAnew<T extends Dated>(before: T, now: number): T {
  const { modified, sharesSecond } = dateAfter(before, now);
  const dated = Object.assign({}, before, { modified }) as { -readonly [K in keyof T]: T[K] };
  if (sharesSecond) dated.sharesSecond = sharesSecond;
  else if (before.sharesSecond) delete dated.sharesSecond;
  return dated;
}

/** Returns true if a date in whole seconds identifies this state only. */
export const isStrongDate = ({ modified, sharesSecond }: Dated, date: number): boolean =>
  !sharesSecond && wholeSeconds(modified) === date;

/** Returns true if a tag belongs to the current state or any of its variants (rule 8.1). */
const isOfState = (opaque: string, state: string): boolean => opaque === state || opaque.startsWith(`${state}.`);

/**
 * Checks the preconditions of a write.
 * @param state opaque state of the target, `undefined` if it does not exist
 * @param required reject an unconditional write to an existing target
 * @throws LwsError `precondition-required`, `precondition-failed`
 */
export function assertPreconditions(
  { ifMatch, ifNoneMatch, ifUnmodifiedSince, stateLists }: Preconditions,
  record: Dated | undefined,
  state: string | undefined,
  required = false,
): void {
  if (stateLists && !stateLists.some((list) => holds(list, state))) throw statesFailed();
  const conditional = ifMatch !== undefined || ifNoneMatch !== undefined || ifUnmodifiedSince !== undefined;
  // A list without a positive entity tag does not show which state the client knows, so it does not count as a condition.
  const namesStates = stateLists?.every((list) => list.some(({ negated, tag }) => tag && !negated));
  if (record && required && !conditional && !namesStates)
    throw new LwsError(
      'precondition-required',
      'The resource exists. Replace it with If-Match and the current ETag, or send If-None-Match: * to create only.',
    );
  if (ifMatch !== undefined) {
    // Tags are compared strongly. The tag of a page of a listing never matches (rule 8.4).
    const matches =
      state !== undefined && (ifMatch === '*' || ifMatch.some(({ weak, opaque }) => !weak && isOfState(opaque, state)));
    if (!matches)
      throw failed(
        record ? 'If-Match does not match the current ETag.' : 'The resource does not exist, so If-Match cannot match.',
      );
  } else if (ifUnmodifiedSince !== undefined && record && !isUnmodifiedSince(record, ifUnmodifiedSince))
    throw failed('The resource was modified since the date in If-Unmodified-Since, or within that second. Use ETags.');
  if (ifNoneMatch !== undefined && state !== undefined) {
    const matches = ifNoneMatch === '*' || ifNoneMatch.some(({ opaque }) => isOfState(opaque, state));
    if (matches) throw failed('The resource exists, and If-None-Match matches its ETag.');
  }
}

/** Returns true if all conditions hold for a state. Tags are compared strongly. Without locks, lock tokens never match. */
export const holds = (conditions: readonly StateCondition[], state: string | undefined): boolean =>
  conditions.every(
    ({ negated, tag }) =>
      negated !== (tag !== undefined && state !== undefined && !tag.weak && isOfState(tag.opaque, state)),
  );

const isUnmodifiedSince = (state: Dated, date: number): boolean =>
  wholeSeconds(state.modified) < date || isStrongDate(state, date);

/**
 * Returns true if a read returns 304. A date does not match if the previous state began within the same second.
 * @param tag opaque tag of the selected representation
 */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: Preconditions, tag: string, state: Dated): boolean {
  if (ifNoneMatch !== undefined) return ifNoneMatch === '*' || ifNoneMatch.some(({ opaque }) => opaque === tag);
  return ifModifiedSince !== undefined && isUnmodifiedSince(state, ifModifiedSince);
}

/** Rounds down to seconds: `Last-Modified` has whole seconds (rule 8.5), and dates are compared with that precision. */
export const wholeSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

export const statesFailed = (): LwsError =>
  failed('No list of the If field holds. Get the current ETag. There are no locks, so that no lock token matches.');

const failed = (message: string): LwsError => new LwsError('precondition-failed', message);
