/** Credentials in one token. Must not depend on a scheme. */
import { expect } from 'chai';
import { parseAuthorization } from '../../../../lib/tools/fields/authorization.js';

describe('fields/authorization', () => {
  it('reads scheme and token (RFC 9110 11.4)', () => {
    expect(parseAuthorization('Bearer eyJh.eyJz-_.c2ln')).to.deep.equal({
      scheme: 'bearer',
      token: 'eyJh.eyJz-_.c2ln',
    });
  });

  it('accepts the scheme in any case, and keeps the token unchanged (RFC 9110 11.1)', () => {
    expect(parseAuthorization('dPoP ABCabc')).to.deep.equal({ scheme: 'dpop', token: 'ABCabc' });
  });

  it('accepts every character of token68, with padding at the end (RFC 9110 11.2)', () => {
    const token = 'azAZ09-._~+/==';
    expect(parseAuthorization(`Basic ${token}`)).to.deep.equal({ scheme: 'basic', token });
    expect(parseAuthorization('Basic a=b')).to.equal(undefined);
    expect(parseAuthorization('Basic ==')).to.equal(undefined);
  });

  it('allows more than one space, and no other white space (RFC 9110 11.4)', () => {
    expect(parseAuthorization('Bearer   abc')).to.deep.equal({ scheme: 'bearer', token: 'abc' });
    for (const field of ['Bearer\tabc', ' Bearer abc', 'Bearer abc ', 'Bearer a b', 'Bearer abc\n', 'Bearer\u00a0abc'])
      expect(parseAuthorization(field), field).to.equal(undefined);
  });

  it('rejects credentials without a token68 (RFC 9110 11.4)', () => {
    for (const field of [
      '',
      ' ',
      'Bearer',
      'Bearer ',
      'abc',
      'Digest username="x", realm="y"',
      'Bearer a,b',
      'Bearer "a"',
      'Bearer é',
      'Bea:rer abc',
    ])
      expect(parseAuthorization(field), field).to.equal(undefined);
  });

  it('rejects a field larger than 64 KiB (RFC 9110 5.4)', () => {
    expect(parseAuthorization(`Bearer ${'a'.repeat(65_536 - 7)}`)?.token.length).to.equal(65_529);
    expect(parseAuthorization(`Bearer ${'a'.repeat(65_536 - 6)}`)).to.equal(undefined);
  });
});
