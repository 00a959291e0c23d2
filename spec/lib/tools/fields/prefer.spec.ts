/** Preferences. Must not depend on the supported preferences. */
import { expect } from 'chai';
import { parsePrefer } from '../../../../lib/tools/fields/prefer.js';

const read = (field: string) =>
  [...parsePrefer(field)].map(([name, { value, parameters }]) => [name, value, Object.fromEntries(parameters)]);

describe('fields/prefer', () => {
  it('reads preferences with and without a value (RFC 7240 2)', () => {
    expect(read('respond-async, wait=100')).to.deep.equal([
      ['respond-async', '', {}],
      ['wait', '100', {}],
    ]);
  });

  it('reads parameters, also of preferences without a value (RFC 7240 2)', () => {
    expect(read('return=representation; include="http://x/a http://x/b", foo; some-parameter; Y=2;')).to.deep.equal([
      ['return', 'representation', { include: 'http://x/a http://x/b' }],
      ['foo', '', { 'some-parameter': '', y: '2' }],
    ]);
  });

  it('accepts names in any case, and keeps values unchanged (RFC 7240 2)', () => {
    expect(read('Return=Minimal; A=B')).to.deep.equal([['return', 'Minimal', { a: 'B' }]]);
  });

  it('treats an empty value as absent (RFC 7240 2)', () => {
    expect(read('foo=""')).to.deep.equal(read('foo'));
  });

  it('reads a quoted value like the equal token, with white space around the sign (RFC 7240 2)', () => {
    expect(read('return\t= "minimal"; a = "b,\\";c"')).to.deep.equal([['return', 'minimal', { a: 'b,";c' }]]);
  });

  it('uses the first of a repeated preference (RFC 7240 2)', () => {
    expect(read('return=minimal, Return=representation, wait=1')).to.deep.equal([
      ['return', 'minimal', {}],
      ['wait', '1', {}],
    ]);
  });

  it('uses the first of a repeated parameter (RFC 7240 2)', () => {
    expect(read('a; b=1; b=2')).to.deep.equal([['a', '', { b: '1' }]]);
  });

  it('skips malformed and empty members (RFC 7240 2, RFC 9110 5.6.1.2)', () => {
    expect(read(', =x, a=, b c, d="x"y, e;=1, f;g=, h=(i), "j", ok,')).to.deep.equal([['ok', '', {}]]);
    expect(read('')).to.deep.equal([]);
    expect(read('ok, a="b, c')).to.deep.equal([['ok', '', {}]]);
  });

  it('ignores a malformed member before a valid one with the same name (RFC 7240 2)', () => {
    expect(read('return=(x), return=minimal')).to.deep.equal([['return', 'minimal', {}]]);
  });
});
