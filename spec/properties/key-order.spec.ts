/** Key order and lower bound, compared with the order of UTF-8 bytes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { lowerBound } from '../../lib/storage/keys/graph-keys.js';
import { sortKeys } from '../../lib/storage/keys/key-order.js';
import { runs } from '../support/speed.js';

const texts = fc.string({
  unit: fc.constantFrom('a', 'b', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}'),
  maxLength: 4,
});
const ofBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('Key order', () => {
  it('is the order of UTF-8 bytes, also for the lower bound', () => {
    fc.assert(
      fc.property(fc.array(texts), texts, (keys, key) => {
        const sorted = sortKeys([...keys]);
        expect(sorted).to.deep.equal([...keys].sort(ofBytes));
        expect(lowerBound(sorted, key)).to.equal(sorted.filter((each) => ofBytes(each, key) < 0).length);
      }),
      { numRuns: runs(500) },
    );
  });
});
