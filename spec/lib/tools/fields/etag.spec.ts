/** Parsing and serialization of entity tags. Must not depend on the computation of tags. */
import { expect } from 'chai';
import { formatEntityTag, parseEntityTags } from '../../../../lib/tools/fields/etag.js';

const strong = (opaque: string) => ({ weak: false, opaque });
const weak = (opaque: string) => ({ weak: true, opaque });

describe('fields/etag', () => {
  it('writes a strong tag between quotes (RFC 9110 8.8.3)', () => {
    expect(formatEntityTag('abc')).to.equal('"abc"');
  });

  it('reads one strong tag (RFC 9110 8.8.3)', () => {
    expect(parseEntityTags('"abc"')).to.deep.equal([strong('abc')]);
    expect(parseEntityTags('""')).to.deep.equal([strong('')]);
  });

  it('reads a weak tag, whose prefix is case-sensitive (RFC 9110 8.8.3)', () => {
    expect(parseEntityTags('W/"abc"')).to.deep.equal([weak('abc')]);
    expect(parseEntityTags('w/"abc"')).to.equal(undefined);
    expect(parseEntityTags('W/ "abc"')).to.equal(undefined);
    expect(parseEntityTags('W/')).to.equal(undefined);
  });

  it('reads a list of tags, with or without white space (RFC 9110 13.1.1)', () => {
    expect(parseEntityTags('"a" ,\tW/"b","c"')).to.deep.equal([strong('a'), weak('b'), strong('c')]);
  });

  it('tolerates empty list elements (RFC 9110 5.6.1.2)', () => {
    expect(parseEntityTags(' , "a",, ,"b" , ')).to.deep.equal([strong('a'), strong('b')]);
  });

  it('keeps commas, backslashes and obs-text in a tag: there are no escapes (RFC 9110 8.8.3)', () => {
    expect(parseEntityTags('"a,b\\", "é"')).to.deep.equal([strong('a,b\\'), strong('é')]);
  });

  it('reads an asterisk only by itself (RFC 9110 13.1.1)', () => {
    expect(parseEntityTags('*')).to.equal('*');
    expect(parseEntityTags(' *\t')).to.equal('*');
    expect(parseEntityTags('*, "a"')).to.equal(undefined);
    expect(parseEntityTags('"a", *')).to.equal(undefined);
    expect(parseEntityTags('"*"')).to.deep.equal([strong('*')]);
  });

  it('rejects a field without any tag (RFC 9110 5.6.1.1)', () => {
    for (const field of ['', ' ', ',', ' ,, ']) expect(parseEntityTags(field), field).to.equal(undefined);
  });

  it('rejects an invalid tag in any position (RFC 9110 8.8.3)', () => {
    for (const field of [
      'abc',
      '"abc',
      'abc"',
      '"a" "b"',
      '"a"x',
      '"a", b',
      '"a b"',
      '"a\tb"',
      '"a\x00b"',
      '"\x7f"',
      '"\u0100"',
      "'a'",
    ])
      expect(parseEntityTags(field), field).to.equal(undefined);
  });
});
