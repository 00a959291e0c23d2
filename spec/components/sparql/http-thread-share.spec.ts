/** Share of the HTTP thread for short queries (rule 14.7). */
import { expect } from 'chai';
import { freeAloneMs, freeMs, HttpThreadShare, shareMs } from '../../../components/sparql/pool/http-thread-share.js';

describe('Share of the HTTP thread', () => {
  /** Returns the number of queries in a row that run in the HTTP thread, at most 10 000. */
  function inARow(ms: number, waiting: number): number {
    const share = new HttpThreadShare(() => 0);
    share.waiting = waiting;
    let count = 0;
    while (share.isLeft && count < 10_000) {
      share.charge(ms);
      count++;
    }
    return count;
  }

  it('is not used by queries that cost no more than handing them to a thread', () => {
    expect(inARow(freeMs, 60)).to.equal(10_000);
    expect(inARow(freeMs + 1, 60)).to.equal(shareMs);
  });

  it('is not used by queries of up to 2 ms while no other query waits in any storage', () => {
    expect(inARow(freeAloneMs, 1)).to.equal(10_000);
    expect(inARow(freeAloneMs + 1, 1)).to.equal(shareMs);
    expect(inARow(freeAloneMs, 2)).to.equal(Math.ceil(shareMs / (freeAloneMs - freeMs)));
  });

  it('is renewed with time, up to the share of a second', () => {
    let now = 0;
    const share = new HttpThreadShare(() => now);
    share.waiting = 2;
    share.charge(freeMs + 1.5 * shareMs);
    now = 499;
    expect(share.isLeft).to.equal(false);
    now = 501;
    expect(share.isLeft).to.equal(true);
    now = 1e6;
    expect(share.isLeft).to.equal(true);
    share.charge(freeMs + shareMs);
    expect(share.isLeft).to.equal(false);
  });
});
