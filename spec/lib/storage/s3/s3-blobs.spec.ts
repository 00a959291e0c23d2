/** Blobs in an S3 store: whole or not at all, read as they were written, and nothing left of what never was committed. */
import { createHash, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { BlobFacts } from '../../../../lib/storage/blob-integrity.js';
import { S3Blobs } from '../../../../lib/storage/s3/s3-blobs.js';
import { SpecS3 } from '../../../support/s3-server.js';

const root = 'http://spec.example/';
const mebibyte = 1 << 20;

describe('Blobs in an S3 store', () => {
  let s3: SpecS3;
  let blobs: S3Blobs;
  before(async () => {
    s3 = await SpecS3.start();
  });
  beforeEach(async () => {
    blobs = new S3Blobs(s3.location('pre/fix/'), s3.address('pre/fix/'));
    await blobs.open(root);
  });
  afterEach(() => {
    s3.fault = () => undefined;
    blobs.close();
    expect(s3.damaged).to.deep.equal([]);
  });
  after(() => s3.dispose());

  async function put(bytes: Uint8Array, chunk = 100_000): Promise<BlobFacts> {
    const writer = await blobs.create();
    for (let at = 0; at < bytes.length; at += chunk) await writer.write(bytes.subarray(at, at + chunk));
    await writer.finish();
    return { blob: writer.blob, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('base64') };
  }

  for (const [what, size] of [
    ['empty', 0],
    ['small', 1000],
    ['of exactly one part', 8 * mebibyte],
    ['of several parts', 20 * mebibyte + 1],
  ] as const)
    it(`come back as they were written: one that is ${what}`, async () => {
      const bytes = randomBytes(size);
      const facts = await put(bytes);
      expect(s3.keys('pre/fix/pending/')).to.deep.equal([`pre/fix/pending/${facts.blob}`]);
      await blobs.confirm(facts.blob);
      expect(s3.keys('pre/fix/pending/')).to.deep.equal([]);
      expect(s3.uploads()).to.deep.equal([]);
      expect((await blobs.bytes(facts)).equals(bytes)).to.equal(true);
      expect(await blobs.size(facts.blob)).to.equal(size);
      await blobs.remove(facts.blob);
      expect(await blobs.size(facts.blob)).to.equal(undefined);
      expect(s3.keys('pre/fix/blobs/')).to.deep.equal([]);
    });

  it('are read in parts', async () => {
    const facts = await put(Buffer.from('0123456789'));
    expect(await text(await blobs.read(facts, { start: 2, end: 4 }))).to.equal('234');
    expect(await text(await blobs.read(facts, { start: 9, end: 9 }))).to.equal('9');
    expect(await text(await blobs.read(facts))).to.equal('0123456789');
  });
});
