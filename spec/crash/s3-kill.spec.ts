/** A killed server with its contents in S3: acknowledged contents are present, and leftovers of others are deleted. */

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import { expect } from 'chai';
import { startProcess } from '../support/process.js';
import { SpecS3 } from '../support/s3-server.js';
import { until } from '../support/until.js';

const headers = { 'Content-Type': 'application/octet-stream' };

describe('A killed server with its contents in S3', function () {
  this.timeout(60_000);

  it('has its acknowledged contents, and its unfinished uploads are deleted a day later', async () => {
    const s3 = await SpecS3.start();
    const environment = Object.fromEntries(
      Object.entries(s3.settings()).map(([name, value]) => [`LWS_${name.toUpperCase().replace(/[.-]/g, '_')}`, value]),
    );
    const first = await startProcess({ environment });
    const begin = (path: string): ClientRequest => {
      const upload = request(first.root + path, { method: 'PUT', headers });
      upload.on('error', () => {});
      return upload;
    };
    const stored = begin('stored').end(Buffer.alloc(300_000, 1));
    const [answer] = await once(stored, 'response');
    expect(answer.statusCode).to.equal(201);
    const [small, large] = [begin('small'), begin('large')];
    small.write('some');
    for (let i = 0; i < 20; i++) large.write(Buffer.alloc(1 << 20));
    await until(() => s3.uploads().length === 1 && s3.keys('pending/').length >= 2);
    await first.kill();

    s3.backdate(25);
    const again = await startProcess({ dataDir: first.dataDir, root: first.root, environment });
    try {
      await until(() => s3.uploads().length === 0 && s3.keys('pending/').length === 0);
      expect(s3.keys('blobs/')).to.have.length(1);
      const kept = await fetch(`${again.root}stored`);
      expect([kept.status, (await kept.arrayBuffer()).byteLength]).to.deep.equal([200, 300_000]);
      expect((await fetch(`${again.root}large`)).status).to.equal(404);
    } finally {
      expect(await again.stop()).to.equal(0);
      await s3.dispose();
      rmSync(first.dataDir, { recursive: true, force: true });
    }
  });
});
