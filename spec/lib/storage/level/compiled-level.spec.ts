/** Warning at the start of a large storage whose LevelDB is not compiled by `scripts/leveldb` (decision 168). */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel } from 'classic-level';
import { request } from '../../../support/http.js';
import { type SpecServer, startSpecServer } from '../../../support/server.js';

describe('LevelDB that can bring deleted entries back (decision 168)', () => {
  let s: SpecServer;
  const warnings = (server: SpecServer) => server.log.filter(({ msg }) => String(msg).includes('scripts/leveldb'));

  afterEach(() => s.stop());

  it('is reported at the start of a storage of more than 64 MiB, with the command that corrects it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-level-'));
    const level = new ClassicLevel(folder);
    await level.open();
    const isCorrected = level.getProperty('leveldb.keeps-versions-together') === '1';
    await level.close();
    rmSync(folder, { recursive: true });
    s = await startSpecServer({ settings: { 'dev.open': 'true' } });
    expect(warnings(s)).to.deep.equal([]);
    await s.stop(true);
    const large = join(s.dataDir, 'level', 'large');
    writeFileSync(large, '');
    truncateSync(large, (64 << 20) + 1);
    s = await startSpecServer({ settings: { 'dev.open': 'true' }, again: s });
    expect((await request(s.root)).status).to.equal(200);
    expect(warnings(s).map((entry) => entry['level'])).to.deep.equal(isCorrected ? [] : [40]);
    if (!isCorrected)
      expect(warnings(s)[0]!['msg']).to.match(/ node \/\S+\/scripts\/leveldb\/build\.mjs, and start again\.$/);
  });
});
