/** Media types. Must not depend on the formats of the storage. */
import { expect } from 'chai';
import { parseMediaType } from '../../../../lib/tools/fields/media-type.js';

function read(field: string) {
  const media = parseMediaType(field);
  return media && [media.essence, ...media.parameters];
}

describe('fields/media-type', () => {
  it('reads type and subtype, in lower case (RFC 9110 8.3.1)', () => {
    expect(read('text/turtle')).to.deep.equal(['text/turtle']);
    expect(read('Application/LD+JSON')).to.deep.equal(['application/ld+json']);
    expect(read(' text/turtle\t')).to.deep.equal(['text/turtle']);
  });

  it('reads parameters: names in lower case, values unchanged (RFC 9110 8.3.1)', () => {
    expect(read('text/turtle;Charset=UTF-8 ; version=1.2')).to.deep.equal([
      'text/turtle',
      ['charset', 'UTF-8'],
      ['version', '1.2'],
    ]);
  });

  it('reads a quoted value like the equal token (RFC 9110 5.6.6)', () => {
    expect(read('text/plain; charset="utf-8"')).to.deep.equal(read('text/plain; charset=utf-8'));
    expect(read('a/b;profile="http://x/; , \\"y\\""')).to.deep.equal(['a/b', ['profile', 'http://x/; , "y"']]);
  });

  it('tolerates empty parameters (RFC 9110 5.6.6)', () => {
    expect(read('a/b;')).to.deep.equal(['a/b']);
    expect(read('a/b ;; x=1 ; ')).to.deep.equal(['a/b', ['x', '1']]);
  });

  it('uses the first of a repeated parameter (RFC 9110 8.3)', () => {
    expect(read('a/b;x=1;X=2')).to.deep.equal(['a/b', ['x', '1']]);
  });

  it('rejects values without type and subtype (RFC 9110 8.3.1)', () => {
    for (const field of [
      '',
      ' ',
      'text',
      'text/',
      '/turtle',
      '/',
      'text /turtle',
      'text/ turtle',
      'text/tur tle',
      'a/b/c',
      'a/b, c/d',
      'té/b',
      ';a=b',
    ])
      expect(read(field), field).to.equal(undefined);
  });

  it('rejects malformed parameters (RFC 9110 5.6.6)', () => {
    for (const field of [
      'a/b;x',
      'a/b;x=',
      'a/b;x =1',
      'a/b;x= 1',
      'a/b;=1',
      'a/b;x="1',
      'a/b;x="1"2',
      'a/b;x=1 y=2',
      'a/b;x=1,',
      'a/b;,',
      'a/b x=1',
    ])
      expect(read(field), field).to.equal(undefined);
  });

  it('treats names such as __proto__ like others (RFC 9110 5.6.2)', () => {
    expect(read('a/b;__proto__=1')).to.deep.equal(['a/b', ['__proto__', '1']]);
  });
});
