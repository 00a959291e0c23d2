/** Limits of a short query (rule 14.7). */
import { expect } from 'chai';
import { NotShortError, ShortLimits } from '../../../components/sparql/pool/short-limits.js';

describe('Limits of a short query', () => {
  let time = { wall: 0, cpu: 0, reads: 0 };
  const clocks = {
    now: () => time.wall,
    cpu: () => {
      time.reads++;
      return time.cpu;
    },
  };
  const started = (isMeasured = false, weight = 1): ShortLimits => {
    time = { wall: 1000, cpu: 500, reads: 0 };
    const own = new ShortLimits(isMeasured, weight, clocks);
    own.check(1);
    return own;
  };
  const pass = (wall: number, cpu: number): void => {
    time.wall += wall;
    time.cpu += cpu;
  };

  it('do not read the CPU time within the first 10 ms', () => {
    const own = started();
    pass(9.9, 9.9);
    own.check(1);
    expect([own.isSlow, time.reads]).to.deep.equal([false, 0]);
  });

  it('end a query that uses the CPU for 20 ms', () => {
    const own = started();
    pass(10, 10);
    own.check(1);
    pass(10.1, 10.1);
    expect(() => own.check(1)).to.throw(NotShortError);
    expect(own.isSlow).to.equal(true);
  });

  it('measure a query with one long block if they are told to', () => {
    for (const isMeasured of [false, true]) {
      const own = started(isMeasured);
      pass(30, 30);
      if (isMeasured) expect(() => own.check(1)).to.throw(NotShortError);
      else own.check(1);
      expect(own.isSlow).to.equal(isMeasured);
    }
  });

  it('do not end a query that waits for the processor', () => {
    const own = started();
    for (let step = 0; step < 10; step++) {
      pass(50, 1);
      own.check(1);
    }
    expect(own.isSlow).to.equal(false);
  });

  it('end a query that reads more than 8000 matches and rows', () => {
    const own = started();
    own.check(7999);
    expect(() => own.check(1)).to.throw(NotShortError);
  });

  it('end a query with calculations after fewer rows', () => {
    const own = started(false, 4);
    own.check(1999);
    expect(() => own.check(1)).to.throw(NotShortError);
  });
});
