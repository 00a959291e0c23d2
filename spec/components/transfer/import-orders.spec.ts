/** Which orders an import leaves: those of the storage, also where they change under it. */
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

describe('An import and the orders of quads', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-import-orders-'));
  const dump = join(folder, 'dump.nq');
  before(function () {
    if (isSharedRun) this.skip();
    let text = '';
    // Lines of 60 characters, of which the storage expects 150 for a quad.
    for (let graph = 0; graph < graphs; graph++)
      for (let at = 0; at < triples; at++) text += `<urn:s${at % 20}> <urn:p${at}> "${at}" <${root}in/g${graph}> .\n`;
    writeFileSync(dump, text);
  });
  after(() => rmSync(folder, { recursive: true }));

  /** @returns the orders after an import, which leaves a whole storage */
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

  it('is one where there is room in memory', async () => {
    expect(await ordersAfter('small', 100_000)).to.equal('one');
  });

  it('is all from the start where the dump is too long for the index', async () => {
    expect(await ordersAfter('large', 5_000)).to.equal('all');
  });

  it('comes to be all amid an import that outgrows the index', async () => {
    expect(await ordersAfter('growing', 18_000)).to.equal('all');
  });
});
