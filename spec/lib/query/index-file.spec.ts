/** File of the in-memory index: a restarted server loads it at once with all later changes, or rebuilds the index. */
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readIndex } from '../../../lib/query/memory/index-file.js';
import { request } from '../../support/http.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';
import { isSharedRun } from '../../support/shared-storage.js';

const e = 'http://example.org/';
const settings = { 'dev.open': 'true', 'require-conditional-writes': 'false' };

describe('File of the in-memory index', function () {
  this.timeout(120_000);
  let server: SpecServer;
  before(async function () {
    if (isSharedRun) this.skip();
    server = await startSpecServer({ settings });
    for (let at = 0; at < 3; at++) expect(await put(`big${at}`, 18_000, at)).to.equal(201);
  });
  after(() => server?.stop());

  async function put(name: string, triples: number, mark: number): Promise<number> {
    const lines = Array.from({ length: triples }, (_, at) => `<#${at}> <${e}p${mark}> ${at} .`);
    const headers = { 'Content-Type': 'text/turtle' };
    return (await request(server.root + name, { method: 'PUT', headers, body: lines.join('\n') })).status;
  }

  /** Number of triples of each predicate. */
  async function counts(): Promise<Record<string, number>> {
    const query = 'SELECT ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p';
    const url = `${server.root}.lws/sparql?query=${encodeURIComponent(query)}`;
    const { status, text } = await request(url, { headers: { Accept: 'text/csv' } });
    expect(status, text).to.equal(200);
    const rows = text.trim().split('\r\n').slice(1);
    return Object.fromEntries(rows.map((row) => [row.split(',')[0]!.slice(e.length), Number(row.split(',')[1])]));
  }

  const file = (): string => join(server.dataDir, 'level.index');
  const built = () => server.log.filter(({ msg }) => msg === 'The in-memory index is ready.');
  async function until(holds: () => boolean): Promise<void> {
    for (let at = 0; at < 500 && !holds(); at++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(holds()).to.equal(true);
  }
  async function restart(): Promise<void> {
    await server.stop(true);
    server = await startSpecServer({ settings, again: server });
  }

  it('is written after the build, readable by the owner of the process only', async () => {
    expect(await counts()).to.deep.equal({ p0: 18_000, p1: 18_000, p2: 18_000 });
    await until(() => existsSync(file()));
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(built()).to.have.length(1);
  });

  it('has the state before a restart and all later changes', async () => {
    expect(await put('small', 5, 3)).to.equal(201);
    await restart();
    expect(await put('big1', 10, 4)).to.equal(204);
    expect((await request(`${server.root}big2`, { method: 'DELETE' })).status).to.equal(204);
    const link = { 'Content-Type': 'application/linkset+json', 'If-Match': '*' };
    const linkset = { linkset: [{ anchor: `${server.root}small`, [`${e}rel`]: [{ href: `${e}x` }] }] };
    const linked = await request(`${server.root}small.meta`, {
      method: 'PUT',
      headers: link,
      body: JSON.stringify(linkset),
    });
    expect(linked.status, linked.text).to.be.oneOf([200, 204]);
    expect(await counts()).to.deep.equal({ p0: 18_000, p3: 5, p4: 10, rel: 1 });
    expect(built().map(({ quads, changed }) => [quads, changed])).to.deep.equal([[54_000, 6]]);
    // A later change takes precedence over every index.
    expect(await put('small', 6, 3)).to.equal(204);
    expect(await counts()).to.deep.equal({ p0: 18_000, p3: 6, p4: 10, rel: 1 });
  });

  for (const [what, spoil] of [
    ['damaged', (bytes: Buffer) => bytes.fill(1, bytes.length >> 1, (bytes.length >> 1) + 1)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    [
      'of another storage',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"storage":"http', '"storage":"ftth'), 'latin1'),
    ],
    [
      'of a later state',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/"position":1/, '"position":9'), 'latin1'),
    ],
    [
      'of a state that the log does not cover',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace(/"position":(\d)/, '"position":0'), 'latin1'),
    ],
  ] as const)
    it(`is ignored if it is ${what}`, async () => {
      const whole = readFileSync(file());
      const spoilt = spoil(Buffer.from(whole));
      expect(spoilt.equals(whole)).to.equal(false);
      writeFileSync(file(), spoilt);
      await restart();
      expect(await counts()).to.deep.equal({ p0: 18_000, p3: 6, p4: 10, rel: 1 });
      expect(built().map(({ quads, changed }) => [quads, changed])).to.deep.equal([[18_017, 0]]);
      writeFileSync(file(), whole);
    });

  it('is rejected if any byte differs: length, digest, header and index', async () => {
    await restart();
    await counts();
    const { level } = server.server.store;
    const opened = { level, snapshot: level.snapshot() };
    const whole = readFileSync(file());
    const copy = `${file()}.copy`;
    const isUsed = async (bytes: Buffer): Promise<boolean> => {
      writeFileSync(copy, bytes);
      return (await readIndex(copy, server.root, opened)) !== undefined;
    };
    expect(await isUsed(whole)).to.equal(true);
    expect(await isUsed(Buffer.concat([whole, Buffer.alloc(1)]))).to.equal(false);
    const headEnd = 36 + whole.readUInt32LE();
    expect(whole.toString('latin1', 36, headEnd)).to.match(/^\{.*"lengths":\[.*\]\}$/);
    const inIndex = Array.from(
      { length: 50 },
      (_, at) => headEnd + Math.floor(((whole.length - headEnd - 1) * at) / 49),
    );
    const inHead = [...Array(headEnd).keys()].filter((at) => at < 40 || at % 5 === 0);
    for (const at of [...inHead, ...inIndex]) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1 << (at % 8);
      expect(await isUsed(flipped), `byte ${at}`).to.equal(false);
    }
    rmSync(copy);
    await opened.snapshot.close();
  });

  it('is not required', async () => {
    rmSync(file());
    await restart();
    expect(await counts()).to.deep.equal({ p0: 18_000, p3: 6, p4: 10, rel: 1 });
  });
});
