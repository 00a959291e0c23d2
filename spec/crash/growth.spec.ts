/**
 * The server is killed during an index build (one index to four), or a command that builds or drops indexes: the storage is
 * always consistent.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { metaKey } from '../../lib/storage/keys/records.js';
import { openLevel } from '../../lib/storage/level/durable-level.js';
import { killStart, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { isSharedRun } from '../support/shared-storage.js';
import { Client } from './client.js';
import { below } from './contents.js';
import { Model } from './model.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 5);
/** Maximum rounds until a kill interrupts the build. */
const maxRounds = 40;

describe('kill -9 during an index build', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-growth-'));
  let first: ServerProcess;
  before(async function () {
    if (isSharedRun) this.skip();
    first = await startProcess({ dataDir: join(folder, 'first'), environment: { LWS_LOG_LEVEL: 'error' } });
    // Names across the whole index, also beyond the BMP.
    for (let at = 0; at < 60; at++) {
      const name = encodeURIComponent(['b', 'y', '\uff5e', '\u{10000}'][at % 4]!);
      const lines = Array.from({ length: 1000 }, (_, i) => `<#${i % 50}> <urn:p${i % 7}> "${at} ${i}" .`);
      const { status } = await fetch(`${first.root}${name}${at}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/turtle' },
        body: lines.join('\n'),
      });
      expect(status).to.equal(201);
    }
    expect(await first.stop()).to.equal(0);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const copied = (name: string): string => {
    const dataDir = join(folder, name);
    cpSync(first.dataDir, dataDir, { recursive: true });
    return dataDir;
  };

  async function expectWhole(dataDir: string): Promise<string> {
    const { stdout, code } = await runProcess(['check'], { dataDir, root: first.root });
    expect(stdout).to.match(/: all in order\.\n$/);
    expect(code).to.equal(0);
    const level = await openLevel(join(dataDir, 'level'));
    const orders = await level.get(metaKey('orders'));
    await level.close();
    return orders!.split(' ')[0]!;
  }

  it('a server under load: quads up to the recorded one are in all indexes, the others in one', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < rounds || (!seen.has('growing') && round < maxRounds); round++) {
      const dataDir = copied('served');
      const environment = { LWS_INDEX_MEMORY_MB: '0', LWS_LOG_LEVEL: 'error' };
      const server = await startProcess({ dataDir, root: first.root, environment });
      const model = new Model();
      const clients = [0, 1].map((at) => new Client(model, `${server.root}own${at}/`, server.root));
      const running = clients.map((client) => client.run());
      await new Promise((resolve) => setTimeout(resolve, below(1200)));
      await server.kill();
      await Promise.all(running);
      seen.add(await expectWhole(dataDir));
      rmSync(dataDir, { recursive: true });
    }
    expect([...seen]).to.include('growing');
  });

  it('quadpod orders: an interrupted build is consistent, and the same command completes it', async () => {
    let source = first.dataDir;
    for (const name of ['four', 'one'] as const) {
      const seen = new Set<string>();
      let at = { dataDir: source, root: first.root };
      // Later each time, until one hits the running command: its start-up time depends on the machine.
      for (let round = 0; round < rounds / 2 || (!seen.has('growing') && round < maxRounds); round++) {
        at = { ...at, dataDir: join(folder, `${name}${round}`) };
        cpSync(source, at.dataDir, { recursive: true });
        await killStart(at, 300 + 150 * round, ['orders', name]);
        seen.add(await expectWhole(at.dataDir));
      }
      expect([...seen], name).to.include('growing');
      const { stdout, code } = await runProcess(['orders', name], at);
      expect(code, stdout).to.equal(0);
      expect(stdout).to.match(
        name === 'one' ? /^60\d{3} quads are stored in one index/ : /^60\d{3} quads are stored in four indexes/,
      );
      expect(await expectWhole(at.dataDir)).to.equal(name === 'one' ? 'one' : 'all');
      source = at.dataDir;
    }
  });
});
