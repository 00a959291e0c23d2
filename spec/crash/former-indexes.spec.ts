/** The server is killed while it removes the quad indexes of an earlier build: the next start continues, and no quad is lost. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { addFormerIndexes, formerState, quadstoreOf } from '../support/former-indexes.js';
import { killStart, runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { isSharedRun } from '../support/shared-storage.js';

/** Maximum rounds until a kill interrupts the removal. */
const maxRounds = 40;
const [graphs, triples] = [40, 1000];

describe('kill -9 during the removal of former indexes', function () {
  this.timeout(300_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-former-'));
  let first: ServerProcess;
  before(async function () {
    if (isSharedRun) this.skip();
    first = await startProcess({ dataDir: join(folder, 'first'), environment: { LWS_LOG_LEVEL: 'error' } });
    for (let at = 0; at < graphs; at++) {
      const name = encodeURIComponent(['b', 'y', '\uff5e', '\u{10000}'][at % 4]!);
      const lines = Array.from({ length: triples }, (_, i) => `<#${i % 50}> <urn:p${i % 7}> "${at} ${i}" .`);
      const { status } = await fetch(`${first.root}${name}${at}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'text/turtle' },
        body: lines.join('\n'),
      });
      expect(status).to.equal(201);
    }
    expect(await first.stop()).to.equal(0);
    await addFormerIndexes(first.dataDir);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('continues at the next start', async () => {
    expect(await formerState(first.dataDir)).to.deep.equal({ keys: 3 * graphs * triples, record: 'all' });
    let state = { keys: 0, record: '' };
    let at = { dataDir: '', root: first.root };
    // The start-up time depends on the machine: later while the removal has not begun, earlier after it has ended.
    let wait = 300;
    let step = 100;
    for (let round = 0; state.record !== 'growing ' && round < maxRounds; round++) {
      at = { ...at, dataDir: join(folder, String(round)) };
      cpSync(first.dataDir, at.dataDir, { recursive: true });
      await killStart(at, wait, ['check']);
      state = await formerState(at.dataDir);
      const isEnded = state.keys === 0;
      if (isEnded === step > 0) step = -Math.sign(step) * Math.max(10, Math.abs(step) / 2);
      wait += step;
    }
    expect(state.keys).to.be.within(1, 3 * graphs * triples - 1);
    const { stdout, code } = await runProcess(['check'], at);
    expect(stdout).to.match(/: all in order\.\n$/);
    expect(code).to.equal(0);
    expect(await formerState(at.dataDir)).to.deep.equal({ keys: 0, record: 'one' });
    const store = await quadstoreOf(at.dataDir);
    const { items } = await store.get({});
    await store.close();
    expect(items).to.have.length(graphs * triples);
  });
});
