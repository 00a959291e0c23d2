/**
 * A full disk: writes are rejected with 507, reads continue, nothing is partly written, and with free space everything is in
 * order, also after a restart. The spec must not know which of the server's writes fail.
 */

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { until } from '../support/until.js';
import { Client, listMembers, readState } from './client.js';
import { Model } from './model.js';
import { SmallDisk } from './small-disk.js';

const MiB = 1 << 20;

describe('A full disk (skipped if no tmpfs can be mounted)', function () {
  this.timeout(60_000);
  let disk: SmallDisk;
  let server: ServerProcess;

  async function start(context: Mocha.Context, options: string): Promise<void> {
    const mounted = SmallDisk.mount(options);
    if (!mounted) return context.skip();
    disk = mounted;
    const dataDir = join(disk.folder, 'data');
    mkdirSync(dataDir);
    server = await startProcess({ dataDir });
  }
  afterEach(async () => {
    await server?.kill();
    disk?.unmount();
  });

  const send = (method: string, name: string, type = '', body?: string): Promise<Response> =>
    fetch(server.root + name, {
      method,
      headers: type ? { 'Content-Type': type } : {},
      ...(body === undefined ? {} : { body }),
    });

  const health = async (name: string): Promise<number> => {
    const answer = await send('GET', `.lws/health/${name}`);
    await answer.text();
    return answer.status;
  };

  async function expectStorageFull(response: Response): Promise<void> {
    const text = await response.text();
    expect(response.status, text).to.equal(507);
    expect(response.headers.get('Content-Type')).to.equal('application/problem+json');
    const problem = JSON.parse(text) as Record<string, unknown>;
    expect(problem['type']).to.equal('urn:problem-type:quadpod:storage-full');
    expect(problem['detail']).to.match(/no disk space .* Nothing was stored/);
  }

  const uploads = (): string[] => readdirSync(join(server.dataDir, 'blobs/tmp'));

  async function expectCheckInOrder(): Promise<void> {
    const check = await runProcess(['check', '--content'], server);
    expect(check.stdout).to.match(/: all in order\.\n$/);
    expect(check.code, check.stderr).to.equal(0);
  }

  it('rejects writes while there is still space for internal files, and accepts them again by itself', async function () {
    await start(this, 'size=80m');
    expect((await send('PUT', 'c/')).status).to.equal(201);
    expect((await send('PUT', 'c/rdf', 'text/turtle', '<#a> <urn:b> 1 .')).status).to.equal(201);
    expect((await send('PUT', 'c/json', 'application/json', '{"a":1}')).status).to.equal(201);
    disk.fill(24 * MiB);
    await until(async () => (await health('ready')) === 503);
    expect(await health('live')).to.equal(200);
    await expectStorageFull(await send('PUT', 'c/new', 'text/turtle', '<#a> <urn:b> 1 .'));
    await expectStorageFull(await send('PUT', 'd/'));
    await expectStorageFull(await send('POST', 'c/', 'application/octet-stream', 'x'.repeat(300_000)));
    await expectStorageFull(
      await send('PATCH', 'c/rdf', 'application/sparql-update', 'INSERT DATA { <urn:a> <urn:b> 2 }'),
    );
    await expectStorageFull(await send('PATCH', 'c/json', 'application/merge-patch+json', '{"a":2}'));
    expect(await listMembers(`${server.root}c/`)).to.deep.equal([`${server.root}c/json`, `${server.root}c/rdf`]);
    expect(await (await send('GET', 'c/json')).text()).to.equal('{"a":1}');
    for (let i = 0; i < 20; i++) await (await send('PUT', 'c/big', 'text/plain', 'x'.repeat(300_000))).text();
    expect(server.output.stderr, 'what Node warns of').not.to.include('Warning');
    expect(uploads()).to.deep.equal([]);
    expect((await send('DELETE', 'c/json')).status).to.equal(204);
    disk.fill(MiB / 2);
    await sleep(1100);
    await expectStorageFull(await send('DELETE', 'c/rdf'));
    disk.free();
    await until(async () => (await health('ready')) === 200);
    expect(server.output.stdout).not.to.include('read-only');
    expect((await send('DELETE', 'c/rdf')).status).to.equal(204);
    expect((await send('PUT', 'c/new', 'text/turtle', '<#a> <urn:b> 1 .')).status).to.equal(201);
    expect(await server.stop()).to.equal(0);
    await expectCheckInOrder();
  });

  it('stays consistent when the disk fills up under load, and resumes by itself with free space', async function () {
    await start(this, 'size=96m');
    const model = new Model();
    const shared = `${server.root}shared/`;
    await fetch(shared, { method: 'PUT' });
    model.acknowledge({ states: new Map([[shared, { kind: 'container' }]]) });
    const clients = Array.from({ length: 6 }, (_, i) => new Client(model, `${server.root}own${i}/`, shared));
    await Promise.all(clients.map((client) => client.run(15)));
    const refusals = (): string[] => clients.flatMap((client) => client.refusals.splice(0));
    expect(refusals()).to.deep.equal([]);

    const writing = Promise.all(clients.map((client) => client.run(40)));
    await sleep(150);
    disk.fill(0);
    await writing;
    const refused = refusals();
    expect(refused.filter((line) => !/: 507 .*quadpod:storage-full/.test(line))).to.deep.equal([]);
    expect(refused.length, 'writes that the disk refused').to.be.above(0);
    expect(await model.reconcile(readState, listMembers), 'on the full disk').to.deep.equal([]);

    disk.free();
    let at = 0;
    await until(async () => (await send('PUT', `again${at++}`, 'application/json', '{}')).status === 201);
    expect(await model.reconcile(readState, listMembers), 'with space again').to.deep.equal([]);
    await Promise.all(clients.map((client) => client.run(5)));
    expect(refusals()).to.deep.equal([]);
    expect(await server.stop()).to.equal(0);
    server = await startProcess(server);
    expect(await model.reconcile(readState, listMembers), 'after the restart').to.deep.equal([]);
    expect(uploads()).to.deep.equal([]);
    await Promise.all(clients.map((client) => client.run(5)));
    expect(refusals()).to.deep.equal([]);
    expect(await server.stop()).to.equal(0);
    await expectCheckInOrder();
  });

  it('rejects with 507 when the disk has space but no inodes', async function () {
    await start(this, 'size=96m,nr_inodes=330');
    expect((await send('PUT', 'kept', 'text/plain', 'content')).status).to.equal(201);
    disk.fillInodes();
    await expectStorageFull(await send('PUT', 'file', 'text/plain', 'content'));
    await expectStorageFull(await send('PUT', 'json', 'application/json', '{}'));
    expect(uploads()).to.deep.equal([]);
    expect(await listMembers(server.root)).to.deep.equal([`${server.root}kept`]);
    expect((await send('DELETE', 'kept')).status).to.equal(204);
    expect(await server.stop()).to.equal(0);
  });

  it('does not start on a full disk: one message, no damage', async function () {
    await start(this, 'size=64m');
    expect((await send('PUT', 'kept', 'text/plain', 'content')).status).to.equal(201);
    expect(await server.stop()).to.equal(0);
    disk.fill(0);
    const { code, stderr } = await runProcess([], server);
    expect(stderr).to.match(/^quadpod: [^\n]*is full[^\n]*\n$/);
    expect(code).to.equal(2);
    disk.free();
    server = await startProcess(server);
    expect(await (await send('GET', 'kept')).text()).to.equal('content');
    expect(await server.stop()).to.equal(0);
    await expectCheckInOrder();
  });
});
