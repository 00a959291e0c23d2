/** Blobs in an S3 store: atomic, read as written, and without remains of uncommitted ones. */

import { createHash, randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { objects, openUploads, S3Blobs } from '../../../components/s3-blobs/s3-blobs.js';
import { S3Client } from '../../../components/s3-blobs/s3-client.js';
import { S3Read } from '../../../components/s3-blobs/s3-read.js';
import { PartBuffers } from '../../../components/s3-blobs/s3-upload.js';
import { type BlobFacts, DamagedBlobError } from '../../../lib/storage/keys/blob-integrity.js';
import { StoreUnavailableError } from '../../../lib/storage/level/durable-level.js';
import { SpecS3 } from '../../support/s3-server.js';
import { until } from '../../support/until.js';

const root = 'http://spec.example/';
const prefix = 'pre/fix/';
const mebibyte = 1 << 20;

const failureOf = (work: Promise<unknown>): Promise<Error & { code?: string; fields?: Record<string, string> }> =>
  work.then(
    () => expect.fail('It succeeded.'),
    (error) => error,
  );

describe('Blobs in an S3 store', () => {
  let s3: SpecS3;
  let blobs: S3Blobs;
  before(async () => {
    s3 = await SpecS3.start();
    blobs = new S3Blobs(s3.location(prefix), s3.address(prefix));
    await blobs.open(root);
  });
  afterEach(() => {
    s3.fault = () => undefined;
    expect(s3.damaged).to.deep.equal([]);
  });
  after(async () => {
    blobs.close();
    await s3.dispose();
  });

  async function put(bytes: Uint8Array, chunk = 100_000): Promise<BlobFacts> {
    const writer = await blobs.create();
    for (let at = 0; at < bytes.length; at += chunk) await writer.write(bytes.subarray(at, at + chunk));
    await writer.finish();
    return { blob: writer.blob, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('base64') };
  }
  /** Objects in the store, without the owner object. */
  const kept = (): string[] => [...s3.keys(`${prefix}blobs/`), ...s3.keys(`${prefix}pending/`), ...s3.uploads()];
  const remove = async (...all: readonly BlobFacts[]): Promise<void> => {
    for (const { blob } of all) await blobs.remove(blob);
    expect(kept()).to.deep.equal([]);
  };

  for (const [what, size] of [
    ['empty', 0],
    ['small', 1000],
    ['of exactly one part', 8 * mebibyte],
    ['of several parts', 17 * mebibyte],
  ] as const)
    it(`are read as written: ${what}`, async () => {
      const bytes = randomBytes(size);
      const facts = await put(bytes);
      expect(kept()).to.deep.equal([`${prefix}blobs/${facts.blob}`, `${prefix}pending/${facts.blob}`]);
      await blobs.confirm(facts.blob);
      expect(kept()).to.deep.equal([`${prefix}blobs/${facts.blob}`]);
      expect((await blobs.bytes(facts)).equals(bytes)).to.equal(true);
      expect(await blobs.size(facts.blob)).to.equal(size);
      await remove(facts);
      expect(await blobs.size(facts.blob)).to.equal(undefined);
    });

  it('are read in ranges', async () => {
    const facts = await put(Buffer.from('0123456789'));
    expect(await text(await blobs.read(facts, { start: 2, end: 4 }))).to.equal('234');
    expect(await text(await blobs.read(facts, { start: 9, end: 9 }))).to.equal('9');
    expect(await text(await blobs.read(facts))).to.equal('0123456789');
    await remove(facts);
  });

  it('are refused if they differ from the stored content, and reported as missing', async () => {
    const facts = await put(Buffer.from('content'));
    const file = s3.file(`${prefix}blobs/${facts.blob}`);
    writeFileSync(file, 'c0ntent');
    expect(await failureOf(blobs.bytes(facts))).to.be.instanceOf(DamagedBlobError);
    expect(await failureOf(text(await blobs.read(facts)))).to.be.instanceOf(DamagedBlobError);
    truncateSync(file, 3);
    expect((await failureOf(blobs.bytes(facts))).message).to.contain('has 3 bytes instead of 7');
    expect((await failureOf(blobs.read(facts, { start: 1, end: 2 }))).message).to.contain('has 3 bytes instead of 7');
    await remove(facts);
    expect((await failureOf(blobs.bytes(facts))).code).to.equal('ENOENT');
    expect((await failureOf(blobs.read(facts, { start: 1, end: 2 }))).code).to.equal('ENOENT');
  });

  it('are deleted if the upload is aborted at any point', async () => {
    const begun = await blobs.create();
    await begun.write(Buffer.from('x'));
    await begun.abort();
    const finished = await blobs.create();
    await finished.write(Buffer.from('x'));
    await finished.finish();
    await finished.abort();
    for (const size of [17, 3]) {
      const large = await blobs.create();
      await large.write(Buffer.alloc(size * mebibyte));
      await large.abort();
    }
    expect(kept()).to.deep.equal([]);
  });

  it('are stored despite temporary failures', async () => {
    const failed = new Set<string>();
    let faults = 0;
    // Every request fails once in one way, and once in another.
    s3.fault = (request) => {
      const [first, second] = [`1 ${request}`, `2 ${request}`];
      const name = failed.has(first) ? second : first;
      if (failed.has(name)) return undefined;
      failed.add(name);
      faults++;
      return name === first ? 503 : 'break';
    };
    const bytes = randomBytes(8 * mebibyte + 1);
    const facts = await put(bytes);
    expect((await blobs.bytes(facts)).equals(bytes)).to.equal(true);
    expect(faults).to.be.above(10);
    s3.fault = () => undefined;
    await remove(facts);
  });

  it('are read to their end when connections break', async () => {
    const bytes = randomBytes(mebibyte);
    const facts = await put(bytes);
    let cuts = 0;
    s3.fault = (request) => (request.startsWith('GET') && ++cuts <= 5 ? 'cut' : undefined);
    const read: Buffer[] = [];
    for await (const chunk of await blobs.read(facts)) read.push(chunk);
    expect(Buffer.concat(read).equals(bytes)).to.equal(true);
    expect(cuts).to.equal(6);
    await remove(facts);
  });

  it('are read over another connection when the reader has paused', async () => {
    const bytes = randomBytes(3 * mebibyte);
    const facts = await put(bytes);
    const client = new S3Client(s3.address(prefix));
    const gets = (): number => s3.requests.filter((request) => request === `GET ${prefix}blobs/${facts.blob}`).length;
    const key = `blobs/${facts.blob}`;
    const stream = new S3Read({
      ...{ client, key, start: 0, end: bytes.length - 1, size: bytes.length, maxPauseMs: 10 },
      otherSize: () => new Error('It has another size.'),
    });
    await stream.open();
    const read: Buffer[] = [];
    for await (const chunk of stream) {
      read.push(chunk);
      if (read.length === 1) await until(() => !stream['source']);
    }
    client.close();
    expect(Buffer.concat(read).equals(bytes)).to.equal(true);
    expect(gets()).to.be.at.least(2);
    await remove(facts);
  });

  it('are refused with 503 while the store rejects parts, and leave nothing', async () => {
    s3.fault = (request) => (request.includes('partNumber=2') ? 500 : undefined);
    const writer = await blobs.create();
    const failure = await failureOf(
      (async () => {
        for (let i = 0; i < 200; i++) await writer.write(Buffer.alloc(mebibyte));
        await writer.finish();
      })(),
    );
    expect(failure).to.deep.include({ code: 'too-busy', fields: { 'Retry-After': '5' } });
    await writer.abort();
    expect(kept()).to.deep.equal([]);
  });

  it('report the setting that is wrong, and never the secret', async () => {
    const opening = async (changed: Parameters<SpecS3['address']>[1], storage = root): Promise<string> => {
      const wrong = new S3Blobs(s3.location(prefix), s3.address(prefix, changed));
      const failure = await failureOf(wrong.exists().then(() => wrong.open(storage)));
      wrong.close();
      expect(failure).to.be.instanceOf(StoreUnavailableError);
      return failure.message;
    };
    const secret = await opening({ secretAccessKey: 'not-this-one' });
    expect(secret)
      .to.match(/403 SignatureDoesNotMatch.*secret-access-key/)
      .and.not.to.contain('not-this-one');
    expect(await opening({ accessKeyId: 'NOBODY' })).to.match(/403 InvalidAccessKeyId.*NOBODY.*access-key-id/);
    expect(await opening({ bucket: 'other-bucket' })).to.match(/Bucket other-bucket \(lws\.blobs\) does not exist/);
    expect(await opening({}, 'http://other.example/')).to.match(/blobs of another storage, http:\/\/spec\.example\//);
    expect(await opening({ endpoint: 'http://127.0.0.1:1' })).to.match(/lws\.blobs\.s3\.endpoint.*ECONNREFUSED/);
  });

  it('are listed page by page', async () => {
    const all: BlobFacts[] = [];
    for (let i = 0; i < 3; i++) all.push(await put(Buffer.from('x')));
    const begun = await Promise.all(all.map(() => blobs.create()));
    for (const writer of begun) await writer.write(Buffer.alloc(8 * mebibyte + 1));
    const client = new S3Client(s3.address(prefix));
    const options = { client, prefix, folder: 'blobs/', pageSize: 2 };
    const [found, open]: string[][] = [[], []];
    for await (const { key, ageMs } of objects(options)) {
      expect(ageMs).to.be.within(-5_000, 60_000);
      found!.push(key);
    }
    for await (const { key } of openUploads(options)) open!.push(key);
    client.close();
    expect(found).to.deep.equal(all.map(({ blob }) => `blobs/${blob}`).sort());
    expect(open!.sort()).to.deep.equal(begun.map(({ blob }) => `blobs/${blob}`).sort());
    for (const writer of begun) await writer.abort();
    await remove(...all);
  });
});

describe('Buffers of parts', () => {
  it('are acquired in order, reused, and refused if none is released', async () => {
    const buffers = new PartBuffers(1, 8, 20);
    const first = await buffers.take();
    const [waiting, late] = [buffers.take(), buffers.take()];
    first.release();
    first.release();
    const second = await waiting;
    expect(second.buffer).to.equal(first.buffer);
    expect((await failureOf(late)).code).to.equal('too-busy');
    second.release();
    (await buffers.take()).release();
  });
});
