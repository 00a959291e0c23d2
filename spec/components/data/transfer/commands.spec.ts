/** Commands import and export without a server: messages to the operator. */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runProcess, startProcess } from '../../../support/process.js';
import { freePort } from '../../../support/server.js';
import { zipOf } from '../../../support/zip.js';

describe('Commands import and export', function () {
  this.timeout(60_000);
  let folder: string;
  let root: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
    root = `http://localhost:${await freePort()}/`;
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (...words: readonly string[]) => runProcess(words, { dataDir: join(folder, 'data'), root });

  it('remove control characters from displayed names', async () => {
    const file = join(folder, 'names.zip');
    writeFileSync(
      file,
      zipOf([
        { name: 'a\u001b[2J\u202e.acl', content: 'x' },
        { name: 'b.txt', content: 'x' },
      ]),
    );
    const { code, stdout } = await run('import', file);
    expect(code).to.equal(3);
    expect(stdout).to.include('Left out: a [2J .acl: ').and.include('1 resources created');
  });

  it('leave out directory entries that are not files, and name them, with and without a running server', async () => {
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
      expect(code, stderr).to.equal(3);
      expect(stderr).to.match(/^quadpod: The import is incomplete: 1 left out, see above\.$/m);
      expect(stdout).to.match(/^Left out: link: It is a symbolic link.*\n.*: 1 resources created.* 1 left out;/);
    }
  });

  it('import the example of the README, the vocabularies of npm, with nothing left out (rule 17.10)', async () => {
    const readme = readFileSync(fileURLToPath(new URL('../../../../../README.md', import.meta.url)), 'utf8');
    const [, words = ''] = /^ {4}npx quadpod (import vocabularies\/ .*?) +#/m.exec(readme) ?? [];
    const [, count, triples = ''] =
      /The (\d+) vocabularies of npm's `@vocabulary\/\*` \(([\d ]+) triples\)/.exec(readme) ?? [];
    const source = join(folder, 'vocabularies');
    mkdirSync(source);
    const packages = dirname(dirname(createRequire(import.meta.url).resolve('@vocabulary/prov/package.json')));
    for (const name of readdirSync(packages))
      copyFileSync(join(packages, name, `${name}.nq`), join(source, `${name}.nq`));
    const dataDir = join(folder, 'vocabularies-data');
    const { code, stdout, stderr } = await runProcess(words.split(/ +/), { dataDir, root, cwd: folder, seconds: 60 });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal(
      `${root}vocabularies/: ${count} resources created, 0 replaced, 0 added to, 0 skipped, 0 left out; ${triples.replace(/ /g, '')} quads.\n`,
    );
    const linked = await runProcess(['export', 'vocabularies/', '-o', join(folder, 'out')], { dataDir, root });
    expect(linked.code, linked.stderr).to.equal(0);
    const index = readFileSync(join(folder, 'out', '.quadpod.json'), 'utf8');
    expect(index).to.include('"via":[{"href":"http://www.w3.org/ns/prov#"}]');
    for (const name of ['vocabularies', 'vocabularies-data', 'out']) rmSync(join(folder, name), { recursive: true });
  });

  it('report that nothing was imported, or the number of resources stored before a failure', async () => {
    const bad = join(folder, 'bad.nq');
    writeFileSync(bad, 'x');
    const nothing = await run('import', bad);
    expect(nothing.code).to.equal(1);
    expect(nothing.stderr).to.match(/(?:^|\n)quadpod: bad\.nq:1: .*\nNothing was imported\.\n$/);
    writeFileSync(bad, `<urn:s> <urn:p> <urn:o> <${root}bad> .\nx\n`);
    const some = await run('import', bad);
    expect(some.code).to.equal(1);
    expect(some.stdout).to.include('1 resources created');
    expect(some.stderr).to.match(
      /(?:^|\n)quadpod: bad\.nq:2: .*\nResources imported before are kept\. Use --resume to continue\.\n$/,
    );
    rmSync(bad);
  });

  it('exit with 3 if the source has no resources, with and without a running server', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const [own, nothing] = [
      await run('import', empty),
      /(?:^|\n)quadpod: Nothing was imported: .*empty has no resources\.\n$/,
    ];
    const server = await startProcess({ environment: { LWS_DEV_OPEN: 'false' } });
    const { root: base, dataDir } = server;
    const beside = await runProcess(['import', empty], { root: base, dataDir, environment: { LWS_DEV_OPEN: 'false' } });
    await server.stop();
    for (const { code, stderr } of [own, beside]) {
      expect(stderr).to.match(nothing);
      expect(code).to.equal(3);
    }
    for (const path of [empty, dataDir]) rmSync(path, { recursive: true });
  });

  it('report invalid arguments in one sentence', async () => {
    const output = join(folder, 'none', 'x.nq');
    const cases: [string[], RegExp][] = [
      [['import', folder, '--into', 'http://['], /^quadpod: --into must be a container of this storage/],
      [
        ['export', 'none/', '-o', join(folder, 'x.nq')],
        /^quadpod: The container http:\/\/localhost:\d+\/none\/ does not exist\.$/,
      ],
      [
        ['export', '-o', join(folder, 'x.rar')],
        /^quadpod: The extension \.rar is unknown\. Supported extensions: \.nq, \.trig \(optionally \.gz\) and \.zip\. For a directory/,
      ],
      [['export', '-o', output], /^quadpod: The directory .*none does not exist\. Create it first\.$/],
    ];
    for (const [words, sentence] of cases) {
      const { code, stderr } = await run(...words);
      expect(stderr.trim()).to.match(sentence);
      expect(stderr.trim().split('\n')).to.have.length(1);
      expect(code).to.equal(2);
    }
    expect(readdirSync(folder).sort()).to.deep.equal(['data', 'names.zip']);
  });

  it('mv and cp move and copy on the running server, and refuse what they cannot do', async () => {
    const server = await startProcess({ environment: { LWS_DEV_OPEN: 'false' } });
    const { root: base, dataDir } = server;
    const alone = { root: base, dataDir, environment: { LWS_DEV_OPEN: 'false' } };
    const run = (...words: readonly string[]) => runProcess(words, alone);
    try {
      const source = join(folder, 'moved');
      mkdirSync(source);
      writeFileSync(join(source, 'a.txt'), 'x');
      expect((await run('import', source, '--into', `${base}notes/`)).code).to.equal(0);
      expect(await run('cp', '/notes/a.txt', '/notes/b.txt')).to.include({
        code: 0,
        stdout: `${base}notes/a.txt was copied to ${base}notes/b.txt\n`,
      });
      expect((await run('mv', `${base}notes/`, '/archive/')).code).to.equal(0);
      expect((await run('mv', '/archive/a.txt', '/')).stdout).to.contain(`moved to ${base}a.txt`);
      for (const [words, message] of [
        [['mv', '/archive/b.txt', '/a.txt'], /412.*Overwrite|exists/],
        [['mv', '/notes/', '/x/'], /404/],
        [['cp', '/a.txt', 'https://example.org/x'], /not an IRI of this storage/],
      ] as const) {
        const { code, stderr } = await run(...words);
        expect(code, stderr).not.to.equal(0);
        expect(stderr).to.match(message);
      }
      expect((await run('mv', '/archive/b.txt', '/a.txt', '--overwrite')).code).to.equal(0);
    } finally {
      await server.stop();
    }
    const { code, stderr } = await run('cp', '/a.txt', '/b.txt');
    expect([code === 0, stderr]).to.satisfy(([ok, text]: [boolean, string]) => !ok && /Start it first/.test(text));
    rmSync(dataDir, { recursive: true });
  });
});
