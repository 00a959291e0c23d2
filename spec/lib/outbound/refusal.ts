/**
 * What a fetch was refused with.
 * It must not know why.
 */
import { expect } from 'chai';
import { OutboundError } from '../../../lib/outbound/outbound-error.js';

/** The refusal that a promise ends in; anything else fails the spec. */
export async function refusalOf(promise: Promise<unknown>): Promise<OutboundError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome, JSON.stringify(outcome)).to.be.instanceOf(OutboundError);
  return outcome as OutboundError;
}

/** Its code alone. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await refusalOf(promise)).code;
}
