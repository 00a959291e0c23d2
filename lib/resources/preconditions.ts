/** Conditional requests (RFC 9110 section 13): evaluated inside the transaction that they guard. Pure checks. */
import { LwsError } from '../errors.js';
import type { EntityTag } from '../fields/etag.js';

export interface Preconditions {
  readonly ifMatch?: '*' | readonly EntityTag[] | undefined;
  readonly ifNoneMatch?: '*' | readonly EntityTag[] | undefined;
  /** Milliseconds since the epoch. */
  readonly ifModifiedSince?: number | undefined;
  readonly ifUnmodifiedSince?: number | undefined;
}

/** When a state began. */
export interface Dated {
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** The state before it began within the same second, so that `Last-Modified` does not tell the two apart (RFC 9110 8.8.2.2). */
  readonly sharesSecond?: true | undefined;
}

/** The date of a state that replaces another: later than that, also when the clock was set back. */
export function dateAfter(before: Dated | undefined, now: number): Dated {
  if (!before) return { modified: now };
  const modified = Math.max(now, before.modified + 1);
  return wholeSeconds(modified) === wholeSeconds(before.modified) ? { modified, sharesSecond: true } : { modified };
}

/** A state of which no date can be told: none is compared with it. */
export const undated: Dated = { modified: Number.POSITIVE_INFINITY };

/** The same with the date of a state that replaces it. */
export function datedAnew<T extends Dated>(before: T, now: number): T {
  const { sharesSecond: _ofBefore, ...others } = before;
  return { ...others, ...dateAfter(before, now) } as T;
}

/** Whether a date in whole seconds names this state and no other. */
export const isStrongDate = ({ modified, sharesSecond }: Dated, date: number): boolean =>
  !sharesSecond && wholeSeconds(modified) === date;

/** Whether a tag is one of the current state's: the state itself, or any of its variants (rule 8.1). */
export const isOfState = (opaque: string, state: string): boolean => opaque === state || opaque.startsWith(`${state}.`);

/**
 * Checks the preconditions of a write.
 * @param state the opaque state of the target, `undefined` when it is absent
 * @param required refuse an unconditional write on an existing target
 * @throws LwsError `precondition-required`, `precondition-failed`
 */
export function assertPreconditions(
  { ifMatch, ifNoneMatch, ifUnmodifiedSince }: Preconditions,
  record: Dated | undefined,
  state: string | undefined,
  required = false,
): void {
  const conditional = ifMatch !== undefined || ifNoneMatch !== undefined || ifUnmodifiedSince !== undefined;
  if (record && required && !conditional)
    throw new LwsError(
      'precondition-required',
      'The resource exists: replace it with If-Match and the ETag that you last saw, or create with If-None-Match: *.',
    );
  if (ifMatch !== undefined) {
    // A tag is compared strongly; a page of a listing has a tag of another state (rule 8.4).
    const matches =
      state !== undefined && (ifMatch === '*' || ifMatch.some(({ weak, opaque }) => !weak && isOfState(opaque, state)));
    if (!matches)
      throw failed(
        record
          ? 'If-Match names another state than the current one.'
          : 'If-Match is never satisfied by a resource that does not exist.',
      );
  } else if (ifUnmodifiedSince !== undefined && record && !isUnmodifiedSince(record, ifUnmodifiedSince))
    throw failed(
      'The resource was modified since the date in If-Unmodified-Since, or within that second. ETags tell more.',
    );
  if (ifNoneMatch !== undefined && state !== undefined) {
    const matches = ifNoneMatch === '*' || ifNoneMatch.some(({ opaque }) => isOfState(opaque, state));
    if (matches) throw failed('The resource exists in a state that If-None-Match excludes.');
  }
}

const isUnmodifiedSince = (state: Dated, date: number): boolean =>
  wholeSeconds(state.modified) < date || isStrongDate(state, date);

/**
 * Whether a read is answered with 304. A date does not tell whether the state before, which began within the same second, is the
 * one that was seen.
 * @param tag the opaque tag of the selected representation
 */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: Preconditions, tag: string, state: Dated): boolean {
  if (ifNoneMatch !== undefined) return ifNoneMatch === '*' || ifNoneMatch.some(({ opaque }) => opaque === tag);
  return ifModifiedSince !== undefined && isUnmodifiedSince(state, ifModifiedSince);
}

/** `Last-Modified` has whole seconds (rule 8.5), and dates are compared as they are shown. */
export const wholeSeconds = (milliseconds: number): number => Math.floor(milliseconds / 1000) * 1000;

const failed = (message: string): LwsError => new LwsError('precondition-failed', message);
