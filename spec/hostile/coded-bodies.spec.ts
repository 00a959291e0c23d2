/** Compressed request bodies that expand without limit, never end, or come from callers without access. */

import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { by, startOwned } from '../support/attack.js';
import { policy } from '../support/grants.js';
import { exchange, head, request } from '../support/http.js';
import { ed25519Identity, type Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';
import { lwsContext, lwsJson } from '../support/search.js';
import { until } from '../support/until.js';

const owner = ed25519Identity();
/** Higher qualities take minutes on large bodies. */
const brotli = (bytes: Uint8Array): Buffer =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
const encoders = { gzip: gzipSync, br: brotli, deflate: deflateSync } as const;

describe('Compressed request bodies', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  before(async () => {
    server = await startOwned(owner, { LWS_OAUTH_ENABLED: 'true', LWS_REQUEST_IDLE_SECONDS: '6' });
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

  it('rejects further slow uploads of a caller, accepts those of others at its address, and ends them (rule 10.10)', async () => {
    const container = `${server.root}shared/`;
    await request(container, { method: 'PUT', headers: by(server, owner) });
    const grantees = Array.from({ length: 4 }, () => ed25519Identity());
    const grant = {
      ...{ '@context': lwsContext, type: ['AccessGrant'], storage: server.root },
      access: grantees.map((who) => policy(who, ['read', 'create'], container)),
    };
    const headers = { ...by(server, owner), 'Content-Type': lwsJson };
    const url = `${server.root}.lws/access-grants`;
    expect((await request(url, { method: 'POST', headers, body: JSON.stringify(grant) })).status).to.equal(201);
    const valid = brotliCompressSync(randomBytes(1_000));
    /** Sends a byte now and then, until the server answers. */
    const drip = (who: Identity, name: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const fields = { ...by(server, who), 'Content-Type': 'text/plain', 'Content-Encoding': 'br' };
        const req = requestPlain(`${container}${name}`, { method: 'PUT', headers: fields }, (answer) => {
          clearInterval(timer);
          req.destroy();
          resolve(answer.statusCode!);
        });
        let at = 10;
        req.once('error', reject).write(valid.subarray(0, at));
        const timer = setInterval(() => req.write(valid.subarray(at++, at)), 300);
      });
    const attacks = grantees.slice(0, 3).map((who, number) => {
      const statuses: number[] = [];
      const ends = Array.from({ length: 12 }, async (_, at) => {
        statuses.push(await drip(who, `slow${number}-${at}`));
      });
      return { statuses, ends: Promise.all(ends) };
    });
    // Four of each are rejected as soon as its others hold all shares that it can have.
    await until(() => !attacks.some(({ statuses }) => statuses.length < 4));
    const put = (who: Identity, name: string) =>
      send(`shared/${name}`, 'text/plain', 'gzip', gzipSync('a'), by(server, who));
    expect((await put(owner, 'own')).status).to.equal(201);
    const busy = await put(grantees[3]!, 'other');
    expect([busy.status, busy.headers['retry-after']]).to.deep.equal([503, '5']);
    const json = await send('shared/json', 'application/json', 'gzip', gzipSync('{}'), by(server, grantees[3]!));
    expect(json.status).to.equal(201);
    for (const { ends, statuses } of attacks) {
      await ends;
      expect(statuses.sort()).to.deep.equal([...Array(8).fill(408), ...Array(4).fill(503)]);
    }
    expect((await put(grantees[3]!, 'other')).status).to.equal(201);
  });

  it('decodes only two bodies of more than 1 MiB at a time for one caller', async () => {
    const text = gzipSync(Array.from({ length: 300_000 }, (_, at) => `# ${at * 7919}\n`).join(''));
    const put = (at: number) => send(`large${at}`, 'text/turtle', 'gzip', text);
    const statuses = (await Promise.all(Array.from({ length: 8 }, (_, at) => put(at)))).map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([201, 503]));
    expect(statuses.filter((status) => status === 201).length).to.be.at.least(2);
    expect((await put(9)).status).to.equal(201);
  });
});
