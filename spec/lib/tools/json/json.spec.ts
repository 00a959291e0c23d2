/** Number of values of a JSON text, counted before the text is parsed. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LwsError } from '../../../../lib/tools/errors.js';
import { parseJson } from '../../../../lib/tools/json/json.js';

const valuesOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + Object.values(value).reduce((sum: number, each) => sum + valuesOf(each), 0)
    : 1;

describe('JSON texts', () => {
  it('accepts exactly the maximum number of values (rule 1.10)', () => {
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

  it('counts no value in an empty array or object, even with spaces in it (rule 1.10)', () => {
    expect(parseJson('[ [ \n ], { } ]', 3)).to.deep.equal([[], {}]);
    expect(parseJson('["[,{", ",]"]', 3)).to.have.length(2);
  });
});
