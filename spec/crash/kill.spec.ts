/**
 * The server is killed under load, repeatedly on the same directory. Acknowledged writes must be present, and in the change log
 * (rule 16.11).
 */

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { allRecords, iriOfRecordKey } from '../../lib/storage/keys/records.js';
import { entryBlocks, keyBlocks, openLevel } from '../../lib/storage/level/durable-level.js';
import { allChanges, readEntry } from '../../lib/storage/log/change-entry.js';
import { killStart, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { isSharedRun } from '../support/shared-storage.js';
import { until } from '../support/until.js';
import { Client, listMembers, readState } from './client.js';
import { below } from './contents.js';
import { Model } from './model.js';

const rounds = Number(process.env['QUADPOD_CRASH_ROUNDS'] ?? 3);
const clientCount = 6;

// With versions, the check after each round finds a gap in a history, and contents that are missing or not removed.
for (const isVersioned of [false, true])
  describe(`kill -9 under load${isVersioned ? ', with versions (rule 27.1)' : ''}`, function () {
    this.timeout(60_000);
    killUnderLoads(isVersioned);
  });

function killUnderLoads(isVersioned: boolean): void {
  const environment = { LWS_CONTAINER_PAGE_SIZE: '100000', LWS_VERSIONS_ALL: String(isVersioned) };
  const model = new Model();
  let broken = false;
  let server: ServerProcess;
  let clients: Client[];
  before(async () => {
    server = await startProcess({ environment });
    const shared = `${server.root}shared/`;
    clients = Array.from({ length: clientCount }, (_, i) => new Client(model, `${server.root}own${i}/`, shared));
    await fetch(shared, { method: 'PUT' });
    model.acknowledge({ states: new Map([[shared, { kind: 'container' }]]) });
  });
  after(async () => {
    await server.kill();
    rmSync(server.dataDir, { recursive: true, force: true });
    if (process.env['QUADPOD_CRASH_ROUNDS'])
      console.log(`    ${model.acknowledged} acknowledged, ${model.inDoubt} in doubt`);
  });

  const again = (): Promise<ServerProcess> => startProcess({ ...server, environment });

  async function killUnderLoad(): Promise<void> {
    const done = Promise.all(clients.map((client) => client.run()));
    // A fresh server is still loading its SPARQL engine. Kills are most effective when all kinds of writes are in progress.
    const enough = model.acknowledged + (below(3) === 0 ? 5 : 100);
    await until(() => model.acknowledged >= enough || !clients.some(({ alive }) => alive));
    await sleep(below(300));
    await server.kill();
    await done;
  }

  async function expectInOrder(): Promise<void> {
    expect(await server.stop(), 'exit code').to.equal(0);
    expect(server.output.stdout, 'warnings and errors in the log').to.equal('');
    // In a shared storage, leftovers of a server are deleted once no server can be writing them.
    if (!isSharedRun) expect(readdirSync(join(server.dataDir, 'blobs/tmp')), 'blobs/tmp').to.deep.equal([]);
    const check = await runProcess(['check', '--content'], server);
    expect(check.stdout).to.match(/: all in order\.\n$/);
    expect(check.code, check.stderr).to.equal(0);
    await expectLogged();
  }

  /** A reader of the change log from its beginning knows all existing resources. */
  async function expectLogged(): Promise<void> {
    const level = await openLevel(join(server.dataDir, 'level'));
    try {
      const known = new Set<string>();
      for await (const entries of entryBlocks(level, allChanges()))
        for (const entry of entries)
          for (const { what } of readEntry(entry, server.root).events) {
            if ('id' in what) continue;
            const { before, after } = what;
            expect(known.has((before ?? after)!.iri), JSON.stringify(what)).to.equal(before !== undefined);
            if (after) known.add(after.iri);
            else known.delete(before!.iri);
          }
      const there: string[] = [];
      for await (const keys of keyBlocks(level, allRecords())) there.push(...keys.map(iriOfRecordKey));
      expect([...known].sort()).to.deep.equal(there.sort());
    } finally {
      await level.close();
    }
  }

  for (let round = 1; round <= rounds; round++)
    it(`loses no write and leaves none partial, round ${round}`, async function () {
      // A defect of one round would repeat in all later ones.
      if (broken) this.skip();
      broken = true;
      const before = model.acknowledged;
      await killUnderLoad();
      expect(clients.flatMap(({ refusals }) => refusals.splice(0))).to.deep.equal([]);
      expect(model.acknowledged, 'acknowledged writes').to.be.above(before);
      // The start cleans up, so it is killed too.
      if (round % 2 === 0) await killStart(server, below(700));
      server = await again();
      expect(await model.reconcile(readState, listMembers)).to.deep.equal([]);
      await expectInOrder();
      server = await again();
      broken = false;
    });
}
