/**
 * Preferences.
 * It must not know which of them the storage honours.
 */
import { expect } from 'chai';
import { parsePrefer } from '../../../lib/fields/prefer.js';

const read = (field: string) =>
  [...parsePrefer(field)].map(([name, { value, parameters }]) => [name, value, Object.fromEntries(parameters)]);

describe('fields/prefer', () => {
  it('reads preferences with and without a value (RFC 7240 2)', () => {
    expect(read('respond-async, wait=100')).to.deep.equal([
      ['respond-async', '', {}],
      ['wait', '100', {}],
    ]);
  });

  it('reads parameters, of preferences without a value too (RFC 7240 2)', () => {
    expect(read('return=representation; include="http://x/a http://x/b", foo; some-parameter; Y=2;')).to.deep.equal([
      ['return', 'representation', { include: 'http://x/a http://x/b' }],
      ['foo', '', { 'some-parameter': '', y: '2' }],
    ]);
  });

  it('takes names in any case, and values as they came (RFC 7240 2)', () => {
    expect(read('Return=Minimal; A=B')).to.deep.equal([['return', 'Minimal', { a: 'B' }]]);
  });

  it('takes an empty value for none (RFC 7240 2)', () => {
    expect(read('foo=""')).to.deep.equal(read('foo'));
  });

  it('takes a quoted value for the same as a token, white space around the sign included (RFC 7240 2)', () => {
    expect(read('return\t= "minimal"; a = "b,\\";c"')).to.deep.equal([['return', 'minimal', { a: 'b,";c' }]]);
  });

  it('takes the first of a repeated preference (RFC 7240 2)', () => {
    expect(read('return=minimal, Return=representation, wait=1')).to.deep.equal([
      ['return', 'minimal', {}],
      ['wait', '1', {}],
    ]);
  });

  it('takes the first of a repeated parameter (RFC 7240 2)', () => {
    expect(read('a; b=1; b=2')).to.deep.equal([['a', '', { b: '1' }]]);
  });

  it('skips malformed and empty members (RFC 7240 2, RFC 9110 5.6.1.2)', () => {
    expect(read(', =x, a=, b c, d="x"y, e;=1, f;g=, h=(i), "j", ok,')).to.deep.equal([['ok', '', {}]]);
    expect(read('')).to.deep.equal([]);
    expect(read('ok, a="b, c')).to.deep.equal([['ok', '', {}]]);
  });

  it('does not let a malformed member take the place of a good one (RFC 7240 2)', () => {
    expect(read('return=(x), return=minimal')).to.deep.equal([['return', 'minimal', {}]]);
  });
});
