/** Imports and exports on the command line, without a server: what an operator is told. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProcess, startProcess } from '../../support/process.js';
import { freePort } from '../../support/server.js';
import { zipOf } from '../../support/zip.js';

describe('The commands import and export', function () {
  this.timeout(60_000);
  let folder: string;
  let root: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    root = `http://localhost:${await freePort()}/`;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...words: readonly string[]) => runProcess(words, { dataDir: join(folder, 'data'), root });

  it('show no name as a terminal would obey it', async () => {
    const file = join(folder, 'names.zip');
    writeFileSync(
      file,
      zipOf([
        { name: 'a\u001b[2J\u202e.acl', content: 'x' },
        { name: 'b.txt', content: 'x' },
      ]),
    );
    const { code, stdout } = await run('import', file);
    expect(code).to.equal(0);
    expect(stdout).to.include('Left out: a [2J .acl: ').and.include('1 resources created');
  });

  it('leave out of a folder what is no file, and name it, whether a server runs or not', async () => {
    const source = join(folder, 'source');
    mkdirSync(source);
    writeFileSync(join(source, 'a.txt'), 'x');
    symlinkSync('/etc/passwd', join(source, 'link'));
    const words = ['import', source, '--on-conflict', 'replace'];
    const alone = await run(...words);
    const server = await startProcess({ environment: { LWS_DEV_OPEN: 'false' } });
    const { root: base, dataDir } = server;
    const beside = await runProcess(words, { root: base, dataDir, environment: { LWS_DEV_OPEN: 'false' } });
    await server.stop();
    rmSync(dataDir, { recursive: true });
    rmSync(source, { recursive: true });
    for (const { code, stdout, stderr } of [alone, beside]) {
      expect(code, stderr).to.equal(0);
      expect(stdout).to.match(/^Left out: link: It is a symbolic link.*\n.*: 1 resources created.* 1 left out;/);
    }
  });

  it('tell in a sentence what cannot be done', async () => {
    const output = join(folder, 'none', 'x.nq');
    const cases: [string[], RegExp][] = [
      [['import', folder, '--into', 'http://['], /^quadpod: --into is a container of this storage/],
      [['export', 'http://['], /^quadpod: What is exported is a container of this storage/],
      [
        ['export', 'none/', '-o', join(folder, 'x.nq')],
        /^quadpod: There is no container http:\/\/localhost:\d+\/none\/\.$/,
      ],
      [['export', '-o', output], /^quadpod: ENOENT: .*none/],
    ];
    for (const [words, sentence] of cases) {
      const { code, stderr } = await run(...words);
      expect(stderr.trim()).to.match(sentence);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(code).to.equal(2);
    }
    expect(readdirSync(folder).sort()).to.deep.equal(['data', 'names.zip']);
  });
});
