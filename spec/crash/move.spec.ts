/**
 * MOVE and COPY of a container with thousands of members, into which others write, on a server that is killed: everything has the
 * old name or the new one, or both. The spec must not know how much of it is prepared before the transaction.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { freePort } from '../support/server.js';
import { isThorough } from '../support/speed.js';
import { below } from './contents.js';

const [count, kills, writers] = isThorough ? [10_000, 2, 20] : [6_000, 2, 5];
const environment = { LWS_CONTAINER_PAGE_SIZE: '100000' };

describe(`A MOVE of ${count} resources while others write`, function () {
  this.timeout(240_000);
  let server: ServerProcess;
  let names: readonly [from: string, to: string] = ['a/', 'b/'];
  /** Acknowledged members. */
  const members = new Set<string>();
  let written = 0;
  let duration = 0;
  before(async () => {
    for (let i = 0; i < count; i++) members.add(`n${i}`);
    const place = {
      dataDir: mkdtempSync(join(tmpdir(), 'quadpod-move-')),
      root: `http://localhost:${await freePort()}/`,
    };
    const dump = join(place.dataDir, 'dump.nq');
    writeFileSync(dump, [...members].map((name) => `<urn:s> <urn:p> "${name}" <${place.root}a/${name}> .\n`).join(''));
    const { code, stderr } = await runProcess(['import', dump], place);
    expect(code, stderr).to.equal(0);
    server = await startProcess({ ...place, environment });
  });
  after(async () => {
    await server?.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
  });

  /** Creates members until the container is gone or the server is killed, in all not more than can be moved. */
  async function write(): Promise<void> {
    for (let i = 0; i < 100; i++) {
      const name = `w${written++}`;
      const response = await fetch(server.root + names[0] + name, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/plain', 'If-None-Match': '*' },
        body: name,
      }).catch(() => undefined);
      if (response?.status !== 201) return void expect(response?.status).to.be.oneOf([undefined, 404]);
      members.add(name);
    }
  }

  const move = (): Promise<number | undefined> =>
    fetch(server.root + names[0], { method: 'MOVE', headers: { Destination: `/${names[1]}`, Overwrite: 'F' } }).then(
      ({ status }) => status,
      () => undefined,
    );

  async function killLater(): Promise<void> {
    await sleep(below(1.3 * duration));
    await server.kill();
  }

  async function listed(name: string): Promise<Set<string> | undefined> {
    const response = await fetch(server.root + name, { headers: { Accept: 'application/lws+json' } });
    if (response.status === 404) return undefined;
    const { items } = (await response.json()) as { items: { id: string }[] };
    return new Set(items.map(({ id }) => id.slice(server.root.length + name.length)));
  }

  /** Asserts that one of the names has all acknowledged members, and the other does not exist. @returns true if it is the new one */
  async function isMoved(): Promise<boolean> {
    const [from, to] = await Promise.all(names.map(listed));
    expect(from === undefined, 'one of the names exists').not.to.equal(to === undefined);
    const found = (from ?? to)!;
    expect([...members].filter((name) => !found.has(name))).to.deep.equal([]);
    const last = [...members].at(-1)!;
    expect(await (await fetch(server.root + names[from ? 0 : 1] + last)).text()).to.include(last);
    return to !== undefined;
  }

  it('moves them with everything that was acknowledged before, and answers reads meanwhile (rule 6.23)', async () => {
    const work = Promise.all(Array.from({ length: writers }, write));
    const began = performance.now();
    const moving = move();
    let isOver = false;
    void moving.then(() => {
      isOver = true;
    });
    let reads = 0;
    for (; !isOver; reads++) expect((await fetch(`${server.root}.lws/health/live`)).status).to.equal(200);
    expect(await moving).to.equal(201);
    duration = performance.now() - began;
    await work;
    expect(reads).to.be.above(20);
    expect(await isMoved()).to.equal(true);
    names = [names[1], names[0]];
  });

  for (let round = 1; round <= kills; round++)
    it(`leaves everything in one place after a kill, round ${round}`, async () => {
      const work = Promise.all(Array.from({ length: writers }, write));
      const moving = move();
      await killLater();
      await work;
      const status = await moving;
      expect(status).to.be.oneOf([201, undefined]);
      server = await startProcess({ ...server, environment });
      const isAtNew = await isMoved();
      if (status === 201) expect(isAtNew).to.equal(true);
      if (isAtNew) names = [names[1], names[0]];
    });

  for (let round = 1; round <= kills; round++)
    it(`leaves a complete copy or none after a kill, round ${round}`, async () => {
      const copied = [...members];
      const copying = fetch(server.root + names[0], { method: 'COPY', headers: { Destination: `/c${round}/` } }).then(
        ({ status }) => status,
        () => undefined,
      );
      const writing = write();
      await killLater();
      await writing;
      const status = await copying;
      expect(status).to.be.oneOf([201, undefined]);
      server = await startProcess({ ...server, environment });
      const found = await listed(`c${round}/`);
      if (status === 201) expect(found, 'the acknowledged copy').to.not.equal(undefined);
      if (found) expect(copied.filter((name) => !found.has(name))).to.deep.equal([]);
      // The source has what was acknowledged.
      await isMoved();
    });

  it('leaves a storage in order', async () => {
    expect(await server.stop()).to.equal(0);
    const check = await runProcess(['check', '--content'], server);
    expect(check.stdout).to.match(/: all in order\.\n$/);
  });
});
