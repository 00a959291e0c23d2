/** Digest fields. Must not depend on the hashed content. Hashes itself to create input. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { chooseDigest, digestAlgorithms, formatDigest, parseDigests } from '../../../../lib/tools/fields/digest.js';

const short = createHash('sha256').update('hello').digest();
const long = createHash('sha512').update('hello').digest();
const sha256 = `sha-256=:${short.toString('base64')}:`;
const sha512 = `sha-512=:${long.toString('base64')}:`;

function read(field: string) {
  const digests = parseDigests(field);
  return digests && [...digests].map(([algorithm, digest]) => [algorithm, Buffer.from(digest).toString('hex')]).sort();
}

describe('fields/digest', () => {
  it('supports sha-256 and sha-512 (RFC 9530 5)', () => {
    expect([...digestAlgorithms].sort()).to.deep.equal(['sha-256', 'sha-512']);
  });

  it('reads one digest or both (RFC 9530 2, 3)', () => {
    expect(read(sha256)).to.deep.equal([['sha-256', short.toString('hex')]]);
    expect(read(`${sha512} , ${sha256}`)).to.deep.equal([
      ['sha-256', short.toString('hex')],
      ['sha-512', long.toString('hex')],
    ]);
  });

  it('ignores unsupported algorithms with any value (RFC 9530 2)', () => {
    expect(read(`md5=:AAAA:, ${sha256}, unixsum=30637, crc32c`)).to.deep.equal([['sha-256', short.toString('hex')]]);
    expect(read('md5=:AAAA:')).to.deep.equal([]);
  });

  it('ignores the parameters of a member (RFC 9530 2)', () => {
    expect(read(`${sha256};a=1;b`)).to.deep.equal(read(sha256));
  });

  it('uses the last of a repeated key (RFC 9651 4.2.2)', () => {
    expect(read(`sha-256=:AAAA:, ${sha256}`)).to.deep.equal(read(sha256));
    expect(read(`${sha256}, sha-256=:AAAA:`)).to.equal(undefined);
  });

  it('rejects a digest of the wrong length (RFC 9530 2)', () => {
    expect(read(`sha-512=:${short.toString('base64')}:`)).to.equal(undefined);
    expect(read(`${sha512}, sha-256=:AAAA:`)).to.equal(undefined);
    expect(read('sha-256=::')).to.equal(undefined);
  });

  it('rejects a supported member that is not a byte sequence (RFC 9530 2, RFC 9651 3.3.5)', () => {
    for (const value of ['', '=1', '="AAAA"', '=AAAA', '=?1', '=(:AAAA:)', '=()', '=@1', '=1.5'])
      expect(read(`sha-256${value}`), value).to.equal(undefined);
  });

  it('rejects a malformed dictionary (RFC 9651 4.2)', () => {
    for (const field of [
      `${sha256},`,
      `,${sha256}`,
      sha256.slice(0, -1),
      sha256.replace('=:', ':'),
      'SHA-256=:AAAA:',
      `${sha256} x`,
      'sha-256=:a b:',
      'sha-256=:é:',
      '=',
      '(',
    ])
      expect(read(field), field).to.equal(undefined);
  });

  it('reads an empty dictionary as no digests (RFC 9651 3.2)', () => {
    expect(read('')).to.deep.equal([]);
  });

  it('chooses the algorithm with the highest weight (RFC 9530 4)', () => {
    expect(chooseDigest('sha-256=1')).to.equal('sha-256');
    expect(chooseDigest('sha-512=3, sha-256=10, unixsum=0')).to.equal('sha-256');
    expect(chooseDigest('sha-256=3, sha-512=4')).to.equal('sha-512');
  });

  it('prefers sha-512 in a tie (RFC 9530 4)', () => {
    expect(chooseDigest('sha-256=5, sha-512=5')).to.equal('sha-512');
  });

  it('never chooses an algorithm with weight 0 (RFC 9530 4)', () => {
    expect(chooseDigest('sha-512=0, sha-256=1')).to.equal('sha-256');
    expect(chooseDigest('sha-512=0')).to.equal(undefined);
  });

  it('ignores members whose weight is not an integer from 0 to 10 (RFC 9530 4)', () => {
    for (const value of ['=11', '=-1', '=1.5', '', '=?1', '=a', '="9"', '=(9)', '=:AAAA:'])
      expect(chooseDigest(`sha-512${value}, sha-256=1`), value).to.equal('sha-256');
  });

  it('chooses nothing from unsupported algorithms or a malformed field (RFC 9530 4)', () => {
    for (const field of ['', 'md5=10', 'sha-256=1,', 'sha-256=', 'sha-256=1 x'])
      expect(chooseDigest(field), field).to.equal(undefined);
  });

  it('writes a digest as a byte sequence, even from a view into a larger buffer (RFC 9530 2, RFC 9651 4.1.8)', () => {
    expect(formatDigest('sha-256', short)).to.equal(sha256);
    expect(formatDigest('sha-512', new Uint8Array(long))).to.equal(sha512);
    expect(formatDigest('sha-256', Buffer.concat([long, short]).subarray(64))).to.equal(sha256);
  });
});
