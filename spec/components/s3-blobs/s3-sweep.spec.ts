/** Remains of a crash in an S3 store: deleted after a day if unreferenced, and never before. */
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { MemoryLevel } from 'memory-level';
import { S3Blobs } from '../../../components/s3-blobs/s3-blobs.js';
import type { S3Upload } from '../../../components/s3-blobs/s3-upload.js';
import { blobKey, garbageKey } from '../../../lib/storage/keys/records.js';
import type { Level } from '../../../lib/storage/level/durable-level.js';
import { BlobSweeper } from '../../../lib/storage/transactions/settled-blobs.js';
import { SpecS3 } from '../../support/s3-server.js';

describe('The sweep of an S3 store', () => {
  let s3: SpecS3;
  let blobs: S3Blobs;
  let level: Level;
  const forgotten = new Set<string>();
  let order: string[] = [];
  const sweep = (): Promise<void> =>
    new BlobSweeper({
      ...{ level, blobs, forgotten, onTrouble: undefined },
      coordination: { hasOthers: false, freshen: async () => void order.push('freshen') },
    }).sweep();

  before(async () => {
    s3 = await SpecS3.start();
    blobs = new S3Blobs({ dataDir: tmpdir() }, s3.address());
    await blobs.open('http://spec.example/');
    level = new MemoryLevel<string, string>({ storeEncoding: 'utf8' as never }) as unknown as Level;
    await level.open();
  });
  after(async () => {
    blobs.close();
    await s3.dispose();
  });

  async function upload(bytes = 1): Promise<string> {
    const writer = await blobs.create();
    await writer.write(Buffer.alloc(bytes));
    await writer.finish();
    return writer.blob;
  }
  const places = (): string[] => [...s3.keys('blobs/'), ...s3.keys('pending/')];
  /** Like a kill, after the first part. */
  async function breakOff(): Promise<string> {
    const writer = await blobs.create();
    await writer.write(Buffer.alloc(8 << 20));
    await writer.write(Buffer.alloc(1));
    // Otherwise the part arrives later, and the upload is younger than intended.
    await Promise.all((writer as S3Upload)['onTheWay']);
    return writer.blob;
  }

  it('deletes old uncommitted uploads, and keeps young ones and referenced blobs', async () => {
    const [lost, committed] = [await upload(), await upload()];
    await level.put(blobKey(committed), 'http://spec.example/a');
    await breakOff();
    await sweep();
    expect(places(), 'young ones').to.have.length(5);
    expect(s3.uploads()).to.have.length(1);
    s3.backdate(25);
    const young = await upload();
    const longUpload = await breakOff();
    s3.backdate(25);
    // A long upload rewrites its marker.
    for (const blob of [young, longUpload]) await blobs['client'].ask({ method: 'PUT', key: `pending/${blob}` });
    order = [];
    s3.fault = (request) => void (request.startsWith('GET') && order.push('list'));
    await sweep();
    s3.fault = () => undefined;
    expect(order.at(-1), 'knows the commits of other servers after the list').to.equal('freshen');
    expect(places()).to.deep.equal([
      ...[committed, young].sort().map((blob) => `blobs/${blob}`),
      ...[young, longUpload].sort().map((blob) => `pending/${blob}`),
    ]);
    expect(s3.uploads()).to.have.length(1);
    expect(places()).not.to.include(`blobs/${lost}`);
  });

  it('deletes garbage blobs of any age without a hold', async () => {
    const garbage = await upload();
    await blobs.confirm(garbage);
    await level.put(garbageKey(garbage), '');
    const release = blobs.hold();
    const sweeping = sweep();
    await upload();
    expect(s3.keys('blobs/')).to.include(`blobs/${garbage}`);
    release();
    await sweeping;
    expect(s3.keys('blobs/')).not.to.include(`blobs/${garbage}`);
    expect([...forgotten]).to.deep.equal([garbageKey(garbage)]);
  });
});
