/** The database of the specs themselves: an empty directory for each, for every user. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { postgresFor } from '../../support/postgres.js';

describe('PostgreSQL for specs', function () {
  this.timeout(60_000);
  const given = process.env['TMPDIR'];
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-closed-'));
    process.env['TMPDIR'] = folder;
  });
  after(() => {
    if (given === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = given;
    rmSync(folder, { recursive: true });
  });

  it('starts if other users cannot enter the directory of the specs, and leaves no directory', async function () {
    // It is built for each platform. This spec does not test for missing ones.
    if (process.platform !== 'linux') this.skip();
    let skipped = false;
    const block = {
      skip: () => {
        skipped = true;
      },
    };
    const postgres = await postgresFor(block as unknown as Mocha.Context);
    expect(skipped).to.equal(false);
    expect(existsSync(postgres.folder)).to.equal(true);
    await postgres.dispose();
    expect(existsSync(postgres.folder)).to.equal(false);
    expect(readdirSync(folder)).to.deep.equal([]);
  });
});
