/** Files of the index: a restarted server opens them at once with all later changes, or rebuilds the index. */
import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { IndexFolder } from '../../../lib/query/memory/index-folder.js';
import { pageBytes } from '../../../lib/query/segments/page-file.js';
import { type Answer, request } from '../../support/http.js';
import { type SpecServer, startSpecServer } from '../../support/server.js';
import { isSharedRun } from '../../support/shared-storage.js';
import { until } from '../../support/until.js';

const e = 'http://example.org/';
const settings = { 'dev.open': 'true', 'require-conditional-writes': 'false' };

describe('Files of the index', function () {
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

  /** Result of a query. On a busy machine it is 503 until the index is built. */
  async function ask(query: string): Promise<string> {
    const url = `${server.root}.lws/sparql?query=${encodeURIComponent(query)}`;
    let answer: Answer | undefined;
    await until(async () => {
      answer = await request(url, { headers: { Accept: 'text/csv' } });
      return answer.status !== 503;
    }, 'the index is built');
    expect(answer!.status, answer!.text).to.equal(200);
    return answer!.text;
  }

  /** Number of triples of each predicate. */
  async function counts(): Promise<Record<string, number>> {
    const query = 'SELECT ?p (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?p';
    const text = await ask(query);
    const rows = text.trim().split('\r\n').slice(1);
    return Object.fromEntries(rows.map((row) => [row.split(',')[0]!.slice(e.length), Number(row.split(',')[1])]));
  }

  const folder = (): string => join(server.dataDir, 'index');
  const file = (name: RegExp): string => join(folder(), readdirSync(folder()).find((each) => name.test(each))!);
  const built = () => server.log.filter(({ msg }) => msg === 'The index is ready.');
  async function restart(): Promise<void> {
    await server.stop(true);
    server = await startSpecServer({ settings, again: server });
  }

  it('is written after the build, readable by the owner of the process only', async () => {
    expect(await counts()).to.deep.equal({ p0: 18_000, p1: 18_000, p2: 18_000 });
    expect(built()).to.have.length(1);
    // Files of runs are removed.
    expect(readdirSync(folder()).map((name) => name.replace(/^[\d-]+/, ''))).to.have.members(['MANIFEST.json', '.seg']);
    for (const name of readdirSync(folder())) expect(statSync(join(folder(), name)).mode & 0o777).to.equal(0o600);
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

  const replaced = (from: string, to: string) => (bytes: Buffer) =>
    Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');
  /** Exchanges two pages: each has a right checksum. */
  function exchanged(bytes: Buffer, one: number, other: number): Buffer {
    const [first, second] = [one, other].map((page) => bytes.subarray(page * pageBytes, (page + 1) * pageBytes));
    const copy = Buffer.from(bytes);
    first!.copy(copy, other * pageBytes);
    second!.copy(copy, one * pageBytes);
    return copy;
  }
  for (const [what, name, spoil] of [
    ['damaged', /seg$/, (bytes: Buffer) => bytes.fill(1, bytes.length >> 1, (bytes.length >> 1) + 1)],
    ['cut off', /seg$/, (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['without its segment', /seg$/, undefined],
    ['with two pages in the places of each other', /seg$/, (bytes: Buffer) => exchanged(bytes, 9, 10)],
    ['of the former format', /MANIFEST/, replaced('"format":2', '"format":1')],
    ['with the digest of another segment', /MANIFEST/, replaced('"digest":"', '"digest":"x')],
    ['with a changed manifest', /MANIFEST/, replaced('"position":1', '"position":9')],
    ['with a manifest that is cut off', /MANIFEST/, (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ] as const)
    it(`is built again if it is ${what}`, async () => {
      const [whole, manifest] = [readFileSync(file(/seg$/)), readFileSync(file(/MANIFEST/))];
      const [path, segmentFile, manifestFile] = [file(name), file(/seg$/), file(/MANIFEST/)];
      if (spoil) writeFileSync(path, spoil(readFileSync(path)));
      else rmSync(path);
      await restart();
      expect(await counts()).to.deep.equal({ p0: 18_000, p3: 6, p4: 10, rel: 1 });
      expect(built().map(({ quads, changed }) => [quads, changed])).to.deep.equal([[18_017, 0]]);
      writeFileSync(segmentFile, whole);
      writeFileSync(manifestFile, manifest);
    });

  it('is built again if it belongs to another state or another storage', async () => {
    await restart();
    await counts();
    const { level } = server.server.store;
    const opened = { level, snapshot: level.snapshot() };
    const index = new IndexFolder(folder());
    const { segment } = (await index.read(server.root, opened))!;
    const { position } = JSON.parse(readFileSync(file(/MANIFEST/), 'utf8')) as { position: number };
    expect(await index.read(`${server.root}x`, opened)).to.equal(undefined);
    for (const other of [position + 1_000_000, position - 1]) {
      index.publish(segment, { storage: server.root, position: other });
      expect(await index.read(server.root, opened), `position ${other}`).to.equal(undefined);
    }
    index.publish(segment, { storage: server.root, position });
    expect(await index.read(server.root, opened))
      .to.have.property('segment')
      .that.deep.equals(segment);
    await opened.snapshot.close();
  });

  it('is merged with the graphs that have changed since, if they are many', async () => {
    await restart();
    await counts();
    const names = Array.from({ length: 2100 }, (_, at) => `many${at}`).values();
    const write = async (): Promise<void> => {
      for (const name of names) expect(await put(name, 1, 5)).to.equal(201);
    };
    await Promise.all(Array.from({ length: 10 }, write));
    expect((await request(`${server.root}small`, { method: 'DELETE' })).status).to.equal(204);
    for (const from of ['merge', 'files']) {
      await restart();
      expect(await counts()).to.deep.equal({ p0: 18_000, p4: 10, p5: 2100 });
      expect(built().map((facts) => [facts['quads'], facts['changed'], facts['from']])).to.deep.equal([
        [20_110, 0, from],
      ]);
    }
    expect(readdirSync(folder())).to.have.length(2);
  });

  it('is not required', async () => {
    rmSync(folder(), { recursive: true });
    await restart();
    expect(await counts()).to.deep.equal({ p0: 18_000, p4: 10, p5: 2100 });
  });

  const flipped = (bytes: Buffer): Buffer => {
    for (let at = bytes.length * 0.92; at < bytes.length * 0.99; at += 4096) bytes[Math.floor(at)]! ^= 255;
    return bytes;
  };
  const withExchanges = (bytes: Buffer): Buffer => {
    const pages = Math.floor((0.99 * bytes.length) / pageBytes);
    let found = bytes;
    for (let page = Math.floor(0.92 * pages); page + 1 < pages; page += 2) found = exchanged(found, page, page + 1);
    return found;
  };
  for (const [what, spoil] of [
    ['a damaged page', flipped],
    ['a page in the place of another', withExchanges],
  ] as const)
    it(`is built again if a query finds ${what}`, async () => {
      for (const name of ['big3', 'big4']) expect(await put(name, 18_000, 6)).to.be.oneOf([201, 204]);
      await server.stop(true);
      rmSync(folder(), { recursive: true, force: true });
      // The last sections are not in memory.
      server = await startSpecServer({ settings: { ...settings, 'index.memory-mb': '1' }, again: server });
      await counts();
      const path = file(/seg$/);
      const handle = openSync(path, 'r+');
      writeSync(handle, spoil(readFileSync(path)));
      closeSync(handle);
      const query = `SELECT (COUNT(*) AS ?n) { GRAPH <${server.root}big4> { ?s ?p ?o FILTER(?o >= 0) } }`;
      expect((await ask(query)).trim()).to.equal('n\r\n18000');
      expect(built().map((facts) => facts['from'])).to.deep.equal(['quads', 'quads']);
      expect(server.log.filter(({ msg }) => msg === 'The index is damaged and is built again.')).to.have.length(1);
    });

  it('is built again if the segment is that of an earlier state', async () => {
    const earlier = readFileSync(file(/seg$/));
    expect(await put('big4', 18_000, 7)).to.equal(204);
    await server.stop(true);
    rmSync(folder(), { recursive: true });
    server = await startSpecServer({ settings, again: server });
    const expected = { p0: 18_000, p4: 10, p5: 2100, p6: 18_000, p7: 18_000 };
    expect(await counts()).to.deep.equal(expected);
    writeFileSync(file(/seg$/), earlier);
    await restart();
    expect(await counts()).to.deep.equal(expected);
    expect(built().map((facts) => facts['from'])).to.deep.equal(['quads']);
  });
});
