/**
 * Starts that fail: exit code 2, one sentence for the operator on stderr, and an unchanged storage. The spec must not know how
 * the server detects the cause.
 */

import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { storeFormat } from '../../lib/storage/graphs/format.js';
import { metaKey } from '../../lib/storage/keys/records.js';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { type Ended, runProcess } from '../support/process.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { SmallDisk } from './small-disk.js';

describe('A start that fails', function () {
  this.timeout(30_000);
  const settings = { 'dev.open': 'true' };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-start-'));
  });
  const made: string[] = [];
  afterEach(() => {
    for (const path of [folder, ...made.splice(0)]) rmSync(path, { recursive: true, force: true });
  });

  /** One line, no stack trace. */
  function expectRefusal({ code, stderr }: Ended, message: RegExp): void {
    expect(stderr).to.match(/^quadpod: [^\n]+\n$/);
    expect(stderr).to.match(message);
    expect(stderr).not.to.match(/\n\s+at |node:internal/);
    expect(code).to.equal(2);
  }

  /** A storage with one resource and a stopped server. */
  async function storage(): Promise<SpecServer> {
    const server = await startSpecServer({ settings });
    made.push(server.dataDir);
    expect((await put(server.root)).status).to.equal(201);
    await server.stop(true);
    return server;
  }
  const put = (root: string): Promise<Response> =>
    fetch(`${root}kept`, { method: 'PUT', headers: { 'Content-Type': 'text/plain' }, body: 'content' });

  /** Starts it again, verifies it, and deletes it. */
  async function expectUnharmed(stopped: SpecServer): Promise<void> {
    const server = await startSpecServer({ settings, again: stopped });
    try {
      expect(await (await fetch(`${server.root}kept`)).text()).to.equal('content');
      expect((await checkStore(server.server.store, { content: true })).faults).to.deep.equal([]);
    } finally {
      await server.stop();
    }
  }

  it('another process uses the storage, or listens on the port', async () => {
    const server = await startSpecServer({ settings });
    await put(server.root);
    const unused = join(folder, 'unused');
    const [second, check, neighbour] = await Promise.all([
      runProcess([], { dataDir: server.dataDir }),
      runProcess(['check'], server),
      runProcess([], { dataDir: unused, root: server.root }),
    ]);
    expectRefusal(second, /in use by another process/);
    expectRefusal(check, /in use by another process/);
    expectRefusal(neighbour, /Another program uses port.*--base-uri=/);
    expect(existsSync(unused), 'a failed first start wrote').to.equal(false);
    expect(await (await fetch(`${server.root}kept`)).text()).to.equal('content');
    await server.stop(true);
    await expectUnharmed(server);
  });

  it('the storage was created for another base URI', async () => {
    const server = await storage();
    const other = { dataDir: server.dataDir, root: 'http://localhost:49999/' };
    expectRefusal(await runProcess([], other), new RegExp(`created for ${server.root}.*lws\\.base-uri.*49999`));
    expectRefusal(await runProcess(['check'], other), /created for/);
    await expectUnharmed(server);
  });

  it('the storage was written by a later version', async () => {
    const server = await storage();
    const setVersion = async (version: string): Promise<void> => {
      const level = await openLevel(join(server.dataDir, 'level'));
      await level.put(metaKey('version'), version);
      await level.close();
    };
    await setVersion('99');
    expectRefusal(await runProcess([], server), /later version \(format 99\)/);
    await setVersion(storeFormat);
    await expectUnharmed(server);
  });

  for (const file of ['.', 'level', 'blobs', 'blobs/tmp'])
    it(`there is a file with the name of the folder ${file === '.' ? 'of the data' : file}`, async () => {
      const dataDir = join(folder, 'data');
      const path = join(dataDir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'mine');
      expectRefusal(await runProcess([], { dataDir }), new RegExp(dataDir.replaceAll('/', '\\/')));
      expect(readFileSync(path, 'utf8')).to.equal('mine');
    });

  it('the database is damaged', async () => {
    const server = await storage();
    const current = join(server.dataDir, 'level/CURRENT');
    const intact = readFileSync(current);
    writeFileSync(current, 'damaged');
    expectRefusal(await runProcess([], server), /cannot be opened.*backup/);
    writeFileSync(current, intact);
    await expectUnharmed(server);
  });

  it('the database lacks its CURRENT file, like in an incomplete backup', async () => {
    const server = await storage();
    const current = join(server.dataDir, 'level/CURRENT');
    const intact = readFileSync(current);
    rmSync(current);
    const ended = runProcess([], server);
    expectRefusal(await ended, /its file CURRENT is missing.*backup/);
    writeFileSync(current, intact);
    await expectUnharmed(server);
  });

  it("the owner's key is invalid", async () => {
    const closed = { LWS_DEV_OPEN: 'false' };
    const [text, directory] = [join(folder, 'text'), join(folder, 'directory')];
    mkdirSync(text);
    writeFileSync(join(text, 'owner.key'), 'nonsense');
    mkdirSync(join(directory, 'owner.key'), { recursive: true });
    for (const dataDir of [text, directory])
      expectRefusal(
        await runProcess([], { dataDir, environment: closed }),
        /owner\.key does not contain a private key/,
      );
  });

  describe('the disk is read-only (skipped if no tmpfs can be mounted)', () => {
    let disk: SmallDisk | undefined;
    before(function () {
      disk = SmallDisk.mount('size=64m');
      if (!disk) this.skip();
    });
    after(() => disk?.unmount());

    it('without a storage', async () => {
      disk!.remount('ro');
      const ended = await runProcess([], { dataDir: join(disk!.folder, 'data') });
      disk!.remount('rw');
      expectRefusal(ended, /read-only.*lws\.data-dir/i);
    });

    it('with a storage', async () => {
      const stopped = await storage();
      const dataDir = join(disk!.folder, 'kept');
      cpSync(stopped.dataDir, dataDir, { recursive: true });
      disk!.remount('ro');
      const ended = await runProcess([], { ...stopped, dataDir });
      disk!.remount('rw');
      await expectUnharmed({ ...stopped, dataDir });
      expectRefusal(ended, /cannot be written.*read-only/i);
    });
  });
});
