/** Content that the disk lost or changed is never returned as the resource, and the operator is notified. */
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProcess } from '../support/process.js';
import { type SpecServer, startSpecServer } from '../support/server.js';

describe('A lost or changed blob', function () {
  this.timeout(30_000);
  let server: SpecServer;
  before(async () => {
    server = await startSpecServer({ settings: { 'dev.open': 'true' } });
  });
  after(() => server.stop());

  /** File of a new blob of the size. */
  async function put(name: string, size: number): Promise<string> {
    const known = new Set(files());
    const { status } = await fetch(server.root + name, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: Buffer.alloc(size, 'a'),
    });
    expect(status).to.equal(201);
    return files().find((file) => !known.has(file))!;
  }
  const files = (): string[] =>
    readdirSync(join(server.dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /^[0-9a-f]{2}.[0-9a-f-]{36}$/.test(name))
      .map((name) => join(server.dataDir, 'blobs', name));
  const errors = (): string => JSON.stringify(server.log.filter(({ level }) => Number(level) >= 50));

  for (const size of [1000, 3 << 20]) {
    it(`is a 500 with a log entry if it is missing (${size} bytes)`, async () => {
      const file = await put(`missing-${size}`, size);
      rmSync(file);
      const answer = await fetch(`${server.root}missing-${size}`);
      expect(answer.status).to.equal(500);
      expect(await answer.text()).not.to.contain(file);
      expect(errors()).to.match(/The blob [0-9a-f-]{36} is missing\. .*quadpod check/);
    });

    it(`is a 500 if its length differs, for a range as well (${size} bytes)`, async () => {
      const file = await put(`short-${size}`, size);
      truncateSync(file, size - 1);
      for (const headers of [{}, { Range: 'bytes=0-9' }] as Record<string, string>[])
        expect((await fetch(`${server.root}short-${size}`, { headers })).status).to.equal(500);
      expect(errors()).to.contain(`has ${size - 1} bytes instead of ${size}`);
    });

    it(`is never returned complete if its digest differs (${size} bytes)`, async () => {
      const file = await put(`changed-${size}`, size);
      const bytes = readFileSync(file);
      bytes[size >> 1]! ^= 1;
      writeFileSync(file, bytes);
      const read = async (): Promise<Buffer> => {
        const answer = await fetch(`${server.root}changed-${size}`);
        if (!answer.ok) throw new Error(String(answer.status));
        return Buffer.from(await answer.arrayBuffer());
      };
      const failure = await read().catch((error: Error) => error);
      expect(failure).to.be.an('error');
      expect(errors()).to.contain('does not have its digest');
    });
  }

  it('cannot be patched', async () => {
    const file = await put('document.bin', 3);
    rmSync(file);
    await fetch(`${server.root}d.json`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":1}',
    });
    for (const name of files()) if (readFileSync(name, 'latin1') === '{"a":1}') writeFileSync(name, '{"a":2}');
    const { status } = await fetch(`${server.root}d.json`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: '{"b":1}',
    });
    expect(status).to.equal(500);
  });

  it('of a lost database prevents a start with an empty one', async () => {
    await put('kept', 10);
    await server.stop(true);
    rmSync(join(server.dataDir, 'level'), { recursive: true });
    const environment = { LWS_BASE_URI: server.root.slice(0, -1), LWS_DATA_DIR: server.dataDir, LWS_DEV_OPEN: 'true' };
    for (const command of ['serve', 'check']) {
      const { code, stderr } = await runProcess([command], { environment });
      expect(stderr).to.match(/^quadpod: .*database \(level\/\) is missing or empty\. Restore level\/[^\n]*\n$/);
      expect(code).to.equal(2);
    }
    expect(files().length).to.be.above(0);
    server = await startSpecServer({ settings: { 'dev.open': 'true' } });
  });
});
