/** Quad indexes after an import: those of the storage, including a change during the import. */
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
    // Lines of 60 characters. The storage estimates 150 for a quad.
    for (let graph = 0; graph < graphs; graph++)
      for (let at = 0; at < triples; at++) text += `<urn:s${at % 20}> <urn:p${at}> "${at}" <${root}in/g${graph}> .\n`;
    writeFileSync(dump, text);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Imports the dump and checks the storage. @returns its quad indexes */
  async function ordersAfter(name: string, limit: number): Promise<string> {
    const at = {
      dataDir: join(folder, name),
      root,
      environment: { LWS_SPARQL_ENDPOINT_MEMORY_INDEX_QUADS: String(limit), LWS_LOG_LEVEL: 'error' },
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

  it('keeps one if the in-memory index has room', async () => {
    expect(await ordersAfter('small', 100_000)).to.equal('one');
  });

  it('builds all from the start if the dump is too large for the in-memory index', async () => {
    expect(await ordersAfter('large', 5_000)).to.equal('all');
  });

  it('builds all during an import that outgrows the in-memory index', async () => {
    expect(await ordersAfter('growing', 18_000)).to.equal('all');
  });
});
