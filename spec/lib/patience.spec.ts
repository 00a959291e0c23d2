/** Timeouts of the specs. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { measuredSlowness } from '../support/patience.js';

const source = `
  describe('limits', function () {
    this.timeout(50);
    it('of a suite', () => new Promise(() => {}));
    it('of a spec', function () { this.timeout(70); return new Promise(() => {}); });
    describe('of a hook', () => { before(() => new Promise(() => {})); it('is not reached', () => {}); });
  });`;

describe('Timeouts of specs', function () {
  this.timeout(60_000);
  it('are multiplied by one factor, which a failure names', () => {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    const file = join(folder, 'limits.spec.cjs');
    writeFileSync(file, source);
    const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
    const env = { ...process.env, QUADPOD_PATIENCE: '3', QUADPOD_SPECS: '' };
    const { stdout } = spawnSync(process.execPath, [mocha, '--color=false', file], {
      cwd: packageRoot,
      env,
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    expect([...stdout.matchAll(/Timeout of (\d+)ms exceeded/g)].map(([, ms]) => ms)).to.deep.equal([
      '150',
      '210',
      '150',
    ]);
    expect(stdout.match(/ Limits are multiplied by 3\. Set QUADPOD_PATIENCE=12 for longer ones\./g)).to.have.length(3);
  });

  it('are rejected with an invalid factor', () => {
    const module = new URL('../support/patience.js', import.meta.url).href;
    const env = { ...process.env, QUADPOD_PATIENCE: 'long' };
    const { status, stderr } = spawnSync(process.execPath, ['--import', module, '-e', '0'], {
      cwd: packageRoot,
      env,
      encoding: 'utf8',
    });
    expect(status).to.not.equal(0);
    expect(stderr).to.include('QUADPOD_PATIENCE is long. Set it to a positive factor for time limits, such as 4.');
  });

  it('are measured, and never shorter than written', () => {
    expect(measuredSlowness()).to.be.within(1, 60);
  });
});
