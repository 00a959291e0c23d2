/** The dates of states: they only go forward, and none guards a write that may be about another state. */
import { expect } from 'chai';
import type { LwsError } from '../../../lib/errors.js';
import {
  assertPreconditions,
  type Dated,
  dateAfter,
  datedAnew,
  isStrongDate,
} from '../../../lib/resources/preconditions.js';

const second = Date.UTC(2026, 0, 1);

describe('The date of a state', () => {
  it('Rule 8.5: goes forward when the clock was set back', () => {
    expect(dateAfter({ modified: second + 500 }, second - 3_600_000)).to.deep.equal({
      modified: second + 501,
      sharesSecond: true,
    });
    expect(dateAfter({ modified: second + 999 }, second).modified).to.equal(second + 1000);
    expect(dateAfter({ modified: second }, second + 5000)).to.deep.equal({ modified: second + 5000 });
    const shared = { modified: second, sharesSecond: true } as const;
    expect(datedAnew(shared, second + 5000)).to.deep.equal({ modified: second + 5000 });
    expect(dateAfter(undefined, second)).to.deep.equal({ modified: second });
  });

  it('RFC 9110 13.1.4, 13.1.5: names a state when no other began within its second', () => {
    const isLetThrough = (state: Dated, date: number): boolean => {
      try {
        assertPreconditions({ ifUnmodifiedSince: date }, state, 'state');
        return true;
      } catch (error) {
        expect((error as LwsError).code).to.equal('precondition-failed');
        return false;
      }
    };
    const first: Dated = { modified: second + 100 };
    const again = dateAfter(first, second + 900);
    const later = dateAfter(again, second + 1500);
    expect([first, again, later].map((state) => isLetThrough(state, second))).to.deep.equal([true, false, false]);
    expect([first, again, later].map((state) => isStrongDate(state, second))).to.deep.equal([true, false, false]);
    expect(isLetThrough(again, second + 1000)).to.equal(true);
    expect(isLetThrough(later, second + 1000)).to.equal(true);
  });
});
