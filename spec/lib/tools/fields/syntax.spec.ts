/** Common lexical rules of fields. Must not depend on a particular field. */
import { expect } from 'chai';
import {
  readPair,
  readParameters,
  readQuoted,
  skipSpace,
  splitList,
  strictPairs,
  tokenEnd,
} from '../../../../lib/tools/fields/syntax.js';

describe('fields/syntax', () => {
  it('accepts exactly the tchars in a token (RFC 9110 5.6.2)', () => {
    expect(tokenEnd("!#$%&'*+-.^_`|~09azAZ/", 0)).to.equal(21);
    for (const other of [
      '"',
      '(',
      ')',
      ',',
      '/',
      ':',
      ';',
      '<',
      '=',
      '>',
      '?',
      '@',
      '[',
      '\\',
      ']',
      '{',
      '}',
      ' ',
      'é',
      '\0',
    ])
      expect(tokenEnd(other, 0), other).to.equal(0);
  });

  it('skips spaces and tabs, and no other white space (RFC 9110 5.6.3)', () => {
    expect(skipSpace(' \t x', 0)).to.equal(3);
    expect(skipSpace('\u00a0', 0)).to.equal(0);
    expect(skipSpace('\n', 0)).to.equal(0);
  });

  it('unescapes quoted pairs (RFC 9110 5.6.4)', () => {
    expect(readQuoted('"a\\"b\\\\c\\d"x', 0)).to.deep.equal({ text: 'a"b\\cd', end: 11 });
    expect(readQuoted('""', 0)).to.deep.equal({ text: '', end: 2 });
    expect(readQuoted('"\té"', 0)).to.deep.equal({ text: '\té', end: 4 });
  });

  it('rejects a quoted string without an end, or with a control character (RFC 9110 5.6.4)', () => {
    for (const field of ['"', '"abc', '"abc\\"', '"abc\\', '"\n"', '"\\\n"', '"\x7f"', '"\u0100"'])
      expect(readQuoted(field, 0), field).to.equal(undefined);
  });

  it('reads a parameter without white space around the sign (RFC 9110 5.6.6)', () => {
    expect(readPair('Charset=UTF-8;', 0, strictPairs)).to.deep.equal({ name: 'charset', value: 'UTF-8', end: 13 });
    for (const field of ['a', 'a=', 'a =b', 'a= b', '=b', 'a="b'])
      expect(readPair(field, 0, strictPairs), field).to.equal(undefined);
  });

  it('tolerates empty parameters, and uses the first of a repeated name (RFC 9110 5.6.6)', () => {
    const read = readParameters(' ; ;a=1;; A=2 ; , rest', 0, strictPairs);
    expect([...read!.parameters]).to.deep.equal([['a', '1']]);
    expect(read!.end).to.equal(16);
  });

  it('splits a list at commas outside of quoted strings (RFC 9110 5.6.1)', () => {
    expect(splitList('a')).to.deep.equal(['a']);
    expect(splitList('a,,b')).to.deep.equal(['a', '', 'b']);
    expect(splitList('a="x,\\",y",b')).to.deep.equal(['a="x,\\",y"', 'b']);
    expect(splitList('a,"b,c')).to.deep.equal(['a', '"b,c']);
  });
});
