/** Quad indexes after an import: those of the storage, all if the index for queries is switched off. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { metaKey } from '../../../lib/storage/keys/records.js';
import { openLevel } from '../../../lib/storage/level/durable-level.js';
import { runProcess } from '../../support/process.js';
import { isSharedRun } from '../../support/shared-storage.js';

const root = 'http://localhost:1/';
const [graphs, triples] = [150, 200];

describe('Import and quad indexes', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-import-orders-'));
  const dump = join(folder, 'dump.nq');
  before(function () {
    if (isSharedRun) this.skip();
    let text = '';
    for (let graph = 0; graph < graphs; graph++)
      for (let at = 0; at < triples; at++) text += `<urn:s${at % 20}> <urn:p${at}> "${at}" <${root}in/g${graph}> .\n`;
    writeFileSync(dump, text);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Imports the dump and checks the storage. @returns its quad indexes */
  async function ordersAfter(name: string, memoryMb: number): Promise<string> {
    const at = {
      dataDir: join(folder, name),
      root,
      environment: { LWS_INDEX_MEMORY_MB: String(memoryMb), LWS_LOG_LEVEL: 'error' },
    };
    const { code, stdout, stderr } = await runProcess(['import', dump, '--into', `${root}in/`], at);
    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.include(`${graphs} resources created`)
      .and.to.include(`${graphs * triples} quads`);
    expect((await runProcess(['check'], at)).stdout).to.match(/ 30000 triples.*: all in order\.\n$/);
    const level = await openLevel(join(at.dataDir, 'level'));
    const orders = await level.get(metaKey('orders'));
    await level.close();
    return orders!;
  }

  it('keeps one', async () => {
    expect(await ordersAfter('one', 64)).to.equal('one');
  });

  it('builds all if the index for queries is switched off', async () => {
    expect(await ordersAfter('all', 0)).to.equal('all');
  });
});
