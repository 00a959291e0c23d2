/** How many values a JSON text has, as it is counted before the text is parsed. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LwsError } from '../../../lib/errors.js';
import { parseJson } from '../../../lib/json/json.js';

const valuesOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((sum: number, each) => sum + valuesOf(each), 0)
    : 1;

describe('JSON texts', () => {
  it('have as many values as may be, and not one more (rule 1.10)', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, 4), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, null, indent);
        const count = valuesOf(value);
        expect(parseJson(text, count)).to.deep.equal(value);
        expect(() => parseJson(text, count - 1))
          .to.throw(LwsError)
          .with.property('code', 'too-large');
      }),
    );
  });

  it('have one value less for an array or an object that is empty, with blanks in it', () => {
    expect(parseJson('[ [ \n ], { } ]', 3)).to.deep.equal([[], {}]);
    expect(parseJson('["[,{", ",]"]', 3)).to.have.length(2);
  });
});
