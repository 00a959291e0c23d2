/** Error of a rejected fetch. Must not depend on its reason. */
import { expect } from 'chai';
import { OutboundError } from '../../../../lib/tools/outbound/outbound-error.js';

/** Returns the error that a promise rejects with. Any other outcome fails the spec. */
export async function refusalOf(promise: Promise<unknown>): Promise<OutboundError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
  expect(outcome, JSON.stringify(outcome)).to.be.instanceOf(OutboundError);
  return outcome as OutboundError;
}

/** Returns its code only. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await refusalOf(promise)).code;
}
