/** Compressed request bodies that expand without limit, never end, or come from callers without access. */
import { readdirSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { by, startOwned } from '../support/attack.js';
import { exchange, head, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';

const owner = ed25519Identity();
/** Higher qualities take minutes on large bodies. */
const brotli = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const encoders = { gzip: gzipSync, br: brotli, deflate: deflateSync } as const;

describe('Compressed request bodies', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startOwned(owner, { LWS_OAUTH_ENABLED: 'true' });
  });
  after(() => server?.kill());

  const send = (name: string, type: string, coding: string, body: Uint8Array, fields = by(server, owner)) =>
    request(server.root + name, {
      method: 'PUT',
      headers: { ...fields, 'Content-Type': type, 'Content-Encoding': coding },
      body,
    });
  const memory = async (): Promise<number> => {
    const text = (await request(`${server.root}.lws/metrics`, { headers: by(server, owner) })).text;
    return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)![1]) / 2 ** 20;
  };

  it('returns 413 for bombs of each coding and kind before memory grows, and stores nothing', async () => {
    const bombs = Object.entries(encoders).map(
      ([coding, encode]) => [coding, encode(Buffer.alloc(100 << 20))] as const,
    );
    await send('warm', 'text/plain', 'gzip', gzipSync('a'));
    const before = await memory();
    for (const [coding, bomb] of bombs)
      for (const type of ['application/octet-stream', 'text/turtle', 'application/json']) {
        const { status, text } = await send('bomb', type, coding, bomb);
        expect(status, `${coding} ${type} ${text}`).to.equal(413);
      }
    expect((await memory()) - before).to.be.below(150);
    expect((await request(`${server.root}bomb`, { headers: by(server, owner) })).status).to.equal(404);
    expect(readdirSync(join(server.dataDir, 'blobs/tmp'))).to.deep.equal([]);
  });

  it('counts the ratio on the whole body, not on its beginning', async () => {
    const repetitive = Buffer.concat([
      Buffer.alloc(900_000),
      Buffer.from(Array.from({ length: 300_000 }, () => Math.random() * 256)),
    ]);
    for (const [coding, encode] of Object.entries(encoders))
      expect(
        (await send(`fine-${coding}`, 'application/octet-stream', coding, encode(repetitive))).status,
        coding,
      ).to.equal(201);
  });

  it('applies the limits of small bodies to the decoded bytes', async () => {
    const query = gzipSync(`ASK {} #${'x'.repeat(70_000)}`);
    const fields = { 'Content-Type': 'application/sparql-query', 'Content-Encoding': 'gzip' };
    expect(
      (await request(`${server.root}.lws/sparql`, { method: 'POST', headers: fields, body: query })).status,
    ).to.equal(413);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'br' };
    const answer = await request(`${server.root}.lws/token`, {
      method: 'POST',
      headers: form,
      body: brotliCompressSync(Buffer.alloc(1 << 20, 'a')),
    });
    expect(answer.status).to.be.oneOf([400, 413]);
  });

  it('authorizes before it reads', async () => {
    const stranger = by(server, ed25519Identity());
    const fields = {
      ...stranger,
      'Content-Type': 'text/plain',
      'Content-Encoding': 'gzip',
      'Content-Length': '1000000',
    };
    const answer = await exchange(`${server.root}a`, [head(`${server.root}a`, 'PUT', fields), gzipSync('a')]);
    expect(answer?.status).to.equal(403);
  });

  /** Status of a compressed upload from another address of the machine. */
  const fromElsewhere = (name: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port, pathname } = new URL(server.root + name);
      const headers = { ...by(server, owner), 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' };
      const address = { hostname, family: 4, port, path: pathname, localAddress: '127.0.0.2' };
      const req = requestPlain({ ...address, method: 'PUT', headers }, (answer) => {
        answer.resume().once('end', () => resolve(answer.statusCode!));
      });
      req.once('error', reject).end(gzipSync('a'));
    });

  it('rejects further slow uploads of one address, accepts those of others, and all when the slow ones have ended', async () => {
    const fields = {
      ...by(server, owner),
      'Content-Type': 'text/plain',
      'Content-Encoding': 'br',
      'Content-Length': '1000',
    };
    const begun = brotliCompressSync('text '.repeat(1000)).subarray(0, 10);
    const slow = Array.from({ length: 8 }, (_, at) =>
      exchange(`${server.root}slow${at}`, [head(`${server.root}slow${at}`, 'PUT', fields), begun, 6000, 'abort'], 8000),
    );
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const busy = await send('other', 'text/plain', 'gzip', gzipSync('a'));
    expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '5']);
    expect(await fromElsewhere('elsewhere')).to.equal(201);
    expect((await send('other', 'application/json', 'gzip', gzipSync('{}'))).status).to.equal(201);
    await Promise.all(slow);
    expect((await send('another', 'text/plain', 'gzip', gzipSync('a'))).status).to.equal(201);
  });

  it('decodes only two bodies of more than 1 MiB at a time for one address', async () => {
    const text = gzipSync(Array.from({ length: 300_000 }, (_, at) => `# ${at * 7919}\n`).join(''));
    const put = (at: number) => send(`large${at}`, 'text/turtle', 'gzip', text);
    const statuses = (await Promise.all(Array.from({ length: 8 }, (_, at) => put(at)))).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([201, 503]));
    expect(statuses.filter((status) => status === 201).length).to.be.at.least(2);
    expect((await put(9)).status).to.equal(201);
  });
});
