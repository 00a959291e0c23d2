/** Media ranges and content negotiation. Must not depend on the representations of the storage. */
import { expect } from 'chai';
import { chooseMediaType, parseAccept, qualityOf } from '../../../../lib/tools/fields/accept.js';

const ranges = (field: string) => parseAccept(field)!;
const read = (field: string) =>
  parseAccept(field)?.map(({ type, subtype, parameters, q }) => [`${type}/${subtype}`, q, ...parameters]);
const choose = (field: string, ...offers: string[]) => chooseMediaType(ranges(field), offers);

describe('fields/accept', () => {
  it('reads ranges in their order, in lower case, with quality 1 by default (RFC 9110 12.5.1)', () => {
    expect(read('Text/Turtle, text/*;q=0.5 ,*/*; Q=0.125')).to.deep.equal([
      ['text/turtle', 1],
      ['text/*', 0.5],
      ['*/*', 0.125],
    ]);
    expect(read('*/*')).to.deep.equal([['*/*', 1]]);
  });

  it('reads the quality at any position among the parameters (RFC 9110 12.5.1)', () => {
    expect(read('a/b;q=0.5;level=1, a/c;level="2,";q=1.000')).to.deep.equal([
      ['a/b', 0.5, ['level', '1']],
      ['a/c', 1, ['level', '2,']],
    ]);
  });

  it('skips members with a malformed quality (RFC 9110 12.4.2)', () => {
    for (const q of ['', '.5', '2', '1.001', '0.1234', '-0', '1e0', '+1', '0x1', 'NaN'])
      expect(read(`a/b;q=${q}, c/d`), q).to.deep.equal([['c/d', 1]]);
    expect(read('a/b;q=0., c/d;q=1.')).to.deep.equal([
      ['a/b', 0],
      ['c/d', 1],
    ]);
  });

  it('skips malformed and empty members (RFC 9110 5.6.1.2, 12.5.1)', () => {
    expect(read(', text, */turtle, a/b c/d, a/b;x,, text/html')).to.deep.equal([['text/html', 1]]);
  });

  it('returns undefined if no valid range is left (RFC 9110 12.5.1)', () => {
    for (const field of ['', ',', '*', 'text', '*/html', 'a/b;q=2', '"a/b"'])
      expect(parseAccept(field), field).to.equal(undefined);
  });

  it('uses the most specific range, in any order (RFC 9110 12.5.1)', () => {
    const field = ranges(
      'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5',
    );
    expect(qualityOf(field, 'text/plain;format=flowed')).to.equal(1);
    expect(qualityOf(field, 'text/plain')).to.equal(0.7);
    expect(qualityOf(field, 'text/html')).to.equal(0.3);
    expect(qualityOf(field, 'image/jpeg')).to.equal(0.5);
    expect(qualityOf(field, 'text/plain;format=fixed')).to.equal(0.4);
    expect(qualityOf(field, 'text/html;level=3')).to.equal(0.3);
  });

  it('returns 0 if no range matches, or the offer is not a media type (RFC 9110 12.5.1)', () => {
    expect(qualityOf(ranges('text/turtle'), 'text/html')).to.equal(0);
    expect(qualityOf(ranges('text/*'), 'application/json')).to.equal(0);
    expect(qualityOf(ranges('*/*'), 'nonsense')).to.equal(0);
  });

  it('matches a range with parameters to offers that have them (RFC 9110 12.5.1)', () => {
    const field = ranges('application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"');
    expect(qualityOf(field, 'application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted"')).to.equal(1);
    expect(qualityOf(field, 'application/ld+json; a=b; Profile="http://www.w3.org/ns/json-ld#compacted"')).to.equal(1);
    expect(qualityOf(field, 'application/ld+json')).to.equal(0);
    expect(qualityOf(field, 'application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded"')).to.equal(0);
  });

  it('matches a range without parameters to offers with them (RFC 9110 12.5.1)', () => {
    expect(qualityOf(ranges('application/ld+json;q=0.8'), 'application/ld+json;profile="x"')).to.equal(0.8);
  });

  it('ignores the charset of a range, for the match and for its rank (RFC 9110 12.5.2)', () => {
    expect(qualityOf(ranges('text/turtle;charset=latin1;q=0.5'), 'text/turtle')).to.equal(0.5);
    expect(
      qualityOf(ranges('text/plain;charset=x;q=0.5, text/plain;format=flowed;q=0.2'), 'text/plain;format=flowed'),
    ).to.equal(0.2);
    expect(qualityOf(ranges('text/plain;charset=x;q=0.5, text/plain;q=0.9'), 'text/plain')).to.equal(0.9);
  });

  it('uses the highest quality among equally specific ranges (RFC 9110 12.5.1)', () => {
    expect(qualityOf(ranges('a/b;q=0, a/b;q=0.4, a/b;q=0.2'), 'a/b')).to.equal(0.4);
  });

  it('ranks a parameter above the type, and more parameters above fewer (RFC 9110 12.5.1)', () => {
    expect(qualityOf(ranges('*/*;v=1;q=0.2, a/b;q=0.9'), 'a/b;v=1')).to.equal(0.2);
    expect(qualityOf(ranges('a/b;v=1;q=0.2, a/b;v=1;w=2;q=0.9'), 'a/b;v=1;w=2')).to.equal(0.9);
  });

  it('chooses the highest quality (RFC 9110 12.5.1)', () => {
    expect(choose('text/html;q=0.5, text/turtle', 'text/html', 'text/turtle')).to.equal('text/turtle');
  });

  it('chooses the offer with the more specific range among equal qualities (RFC 9110 12.5.1)', () => {
    expect(choose('*/*, text/turtle', 'application/ld+json', 'text/turtle')).to.equal('text/turtle');
    expect(choose('text/*, text/turtle', 'text/html', 'text/turtle')).to.equal('text/turtle');
  });

  it('chooses in the order of the offers among equals (RFC 9110 12.1)', () => {
    expect(choose('*/*', 'text/turtle', 'text/html')).to.equal('text/turtle');
    expect(choose('text/html, text/turtle', 'text/turtle', 'text/html')).to.equal('text/turtle');
  });

  it('never chooses an offer with quality 0 (RFC 9110 12.4.2)', () => {
    expect(choose('text/turtle;q=0, */*;q=0.1', 'text/turtle', 'text/html')).to.equal('text/html');
    expect(choose('*/*;q=0', 'text/turtle')).to.equal(undefined);
    expect(choose('text/html', 'text/turtle')).to.equal(undefined);
    expect(choose('text/html')).to.equal(undefined);
  });
});
