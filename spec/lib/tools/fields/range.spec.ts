/** Byte ranges. Must not depend on the content. */
import { expect } from 'chai';
import { formatContentRange, parseByteRange } from '../../../../lib/tools/fields/range.js';

const huge = '9'.repeat(400);

describe('fields/range', () => {
  it('reads a range with both ends inclusive (RFC 9110 14.1.2)', () => {
    expect(parseByteRange('bytes=0-9', 100)).to.deep.equal({ start: 0, end: 9 });
    expect(parseByteRange('bytes=0-0', 1)).to.deep.equal({ start: 0, end: 0 });
  });

  it('reads an open range up to the last byte (RFC 9110 14.1.2)', () => {
    expect(parseByteRange('bytes=90-', 100)).to.deep.equal({ start: 90, end: 99 });
  });

  it('limits the end to the last byte (RFC 9110 14.1.2)', () => {
    expect(parseByteRange('bytes=90-100', 100)).to.deep.equal({ start: 90, end: 99 });
    expect(parseByteRange(`bytes=90-${huge}`, 100)).to.deep.equal({ start: 90, end: 99 });
  });

  it('reads a suffix, at most the whole representation (RFC 9110 14.1.2)', () => {
    expect(parseByteRange('bytes=-10', 100)).to.deep.equal({ start: 90, end: 99 });
    expect(parseByteRange('bytes=-1000', 100)).to.deep.equal({ start: 0, end: 99 });
    expect(parseByteRange(`bytes=-${huge}`, 100)).to.deep.equal({ start: 0, end: 99 });
  });

  it('treats a start after the last byte as unsatisfiable (RFC 9110 14.1.2)', () => {
    for (const field of ['bytes=100-', 'bytes=100-200', `bytes=${huge}-`, 'bytes=9007199254740993-9007199254740993'])
      expect(parseByteRange(field, 100), field).to.equal('unsatisfiable');
  });

  it('treats an empty suffix, and any part of an empty representation, as unsatisfiable (RFC 9110 14.1.2)', () => {
    expect(parseByteRange('bytes=-0', 100)).to.equal('unsatisfiable');
    for (const field of ['bytes=0-', 'bytes=0-0', 'bytes=-5'])
      expect(parseByteRange(field, 0), field).to.equal('unsatisfiable');
  });

  it('ignores an inverted range, exactly beyond 2^53 (RFC 9110 14.1.1)', () => {
    expect(parseByteRange('bytes=9-8', 100)).to.equal(undefined);
    expect(parseByteRange('bytes=9007199254740993-9007199254740992', 100)).to.equal(undefined);
    expect(parseByteRange(`bytes=${huge}-1`, 100)).to.equal(undefined);
    expect(parseByteRange('bytes=9-0010', 100)).to.deep.equal({ start: 9, end: 10 });
  });

  it('ignores other units, and accepts bytes in any case (RFC 9110 14.1)', () => {
    expect(parseByteRange('lines=0-9', 100)).to.equal(undefined);
    expect(parseByteRange('Bytes=0-9', 100)).to.deep.equal({ start: 0, end: 9 });
  });

  it('ignores more than one range (RFC 9110 14.2)', () => {
    expect(parseByteRange('bytes=0-1,4-5', 100)).to.equal(undefined);
    expect(parseByteRange('bytes=0-1, -1', 0)).to.equal(undefined);
  });

  it('ignores malformed fields of any size (RFC 9110 14.1.1, 14.2)', () => {
    for (const field of [
      '',
      'bytes',
      'bytes=',
      'bytes=-',
      'bytes=a-b',
      'bytes=1',
      'bytes=--1',
      'bytes=1-2-3',
      'bytes=+1-2',
      'bytes=1.0-2',
      'bytes =1-2',
      'bytes=1 -2',
      'bytes=0x1-2',
      'bytes=١-٢',
      '0-9',
    ])
      for (const size of [0, 100]) expect(parseByteRange(field, size), field).to.equal(undefined);
  });

  it('writes the range and the size (RFC 9110 14.4)', () => {
    expect(formatContentRange({ start: 0, end: 9 }, 100)).to.equal('bytes 0-9/100');
  });
});
