/** What the operator learns about a storage whose LevelDB has defects (decision 168): log, metrics, status, command. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readIdentity, signCredential } from '../../../../lib/server/storage/owner-credential.js';
import { isOurLevel } from '../../../../lib/storage/level/classic-level.js';
import { request } from '../../../support/http.js';
import { runProcess, type ServerProcess, startProcess } from '../../../support/process.js';

const published = dirname(createRequire(import.meta.url).resolve('classic-level/package.json'));
const open = { LWS_LOG_LEVEL: 'warn', LWS_DEV_OPEN: 'false' };
/** classic-level loads the LevelDB of npm. */
const ofNpm = { ...open, CLASSIC_LEVEL_PREBUILD: published };

/** Writes tables of 1 MiB, with keys that no storage has. */
const writer = `
  const { ClassicLevel } = require(process.argv[1]);
  (async () => {
    const level = new ClassicLevel(process.argv[2], { maxFileSize: 1 << 20, writeBufferSize: 1 << 20, compression: false });
    await level.open();
    for (let at = 0; at < 8; at++)
      await level.batch(Array.from({ length: 1000 }, (_, n) => ({ type: 'put', key: '~' + (n * 8 + at), value: 'v'.repeat(500) })));
    await level.compactRange('~', '~~');
    await level.close();
  })();`;

describe('LevelDB that can bring deleted entries back (decision 168)', function () {
  this.timeout(120_000);
  let s: ServerProcess | undefined;

  afterEach(() => s?.kill());

  const start = async (environment: Record<string, string>, before?: ServerProcess) => {
    s = await startProcess({ environment, ...(before && { dataDir: before.dataDir, root: before.root }) });
    const token = await signCredential(readIdentity(join(s.dataDir, 'owner.key')), s.root.slice(0, -1), 600);
    const options = { headers: { Authorization: `Bearer ${token}` } };
    const { text: metrics } = await request(`${s.root}.lws/metrics`, options);
    const status = JSON.parse((await request(`${s.root}.lws/status`, options)).text) as Record<string, unknown>;
    // The log is buffered until the end.
    await s.stop();
    return {
      warnings: s.output.stdout.split('\n').filter((line) => line.includes('quadpod leveldb --compile')),
      metric: /^quadpod_store_deleted_can_return (\d)$/m.exec(metrics)?.[1],
      status: status['deletedCanReturn'],
    };
  };
  const none = { warnings: [], metric: '0', status: false };

  it('is reported for a storage of several files in log, metrics and status, with the command that corrects it', async () => {
    expect(await start(ofNpm)).to.deep.equal(none);
    const first = s!;
    execFileSync(process.execPath, ['-e', writer, published, join(first.dataDir, 'level')]);
    const { warnings, ...shown } = await start(ofNpm, first);
    expect(warnings).to.have.length(1);
    expect(JSON.parse(warnings[0]!)).to.include({ level: 40 });
    expect(shown).to.deep.equal({ metric: '1', status: true });
    if (isOurLevel) expect(await start(open, first)).to.deep.equal(none);
  });

  it('is shown by the command leveldb', async () => {
    const old = await runProcess(['leveldb'], { environment: ofNpm });
    expect(old.stdout).to.match(/^This is the LevelDB of npm: .* quadpod leveldb --compile\.\n$/);
    expect(old.code).to.equal(1);
    if (!isOurLevel) return;
    const own = await runProcess(['leveldb'], { environment: open });
    expect([own.code, own.stdout]).to.deep.equal([0, own.stdout.match(/^LevelDB has the corrections: .*\n$/)?.[0]]);
  });
});
