/** The LevelDB of this package: which file is loaded, damaged tables, and the warnings without it (decision 168). */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel, isOurLevel, levelFaults } from '../../../../lib/storage/level/classic-level.js';
import { canReturnDeleted, type Level, openLevel } from '../../../../lib/storage/level/durable-level.js';
import { packageRoot } from '../../../../lib/tools/threads/package-root.js';

const prebuilt = 'prebuilds/linux-x64/classic-level.glibc.node';
const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
const isPrebuilt = process.platform === 'linux' && process.arch === 'x64' && header.glibcVersionRuntime !== undefined;
const published = dirname(createRequire(import.meta.url).resolve('classic-level/package.json'));

/** Prints the property and the faults, from this thread and from a worker thread. */
const program = `
  import { mkdtempSync, rmSync } from 'node:fs';
  import { isMainThread, Worker } from 'node:worker_threads';
  import { ClassicLevel, isOurLevel, levelFaults } from './lib/storage/level/classic-level.js';
  const level = new ClassicLevel(process.argv[2], { multithreading: true });
  await level.open();
  const property = level.getProperty('leveldb.keeps-versions-together');
  console.log(JSON.stringify({ isMainThread, property, isOurLevel, levelFaults, left: process.env.CLASSIC_LEVEL_PREBUILD }));
  if (isMainThread) {
    const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
    await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
  }
  await level.close();`;

interface Told {
  readonly isMainThread: boolean;
  readonly property: string;
  readonly isOurLevel: boolean;
  readonly levelFaults: readonly string[];
  readonly left?: string;
}

describe('LevelDB of the package (decision 168)', () => {
  const folder = mkdtempSync(join(packageRoot, 'dist/classic-level-'));

  before(() => {
    // A package of its own, whose file can be damaged.
    cpSync(join(packageRoot, 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['storage/level/classic-level.js', 'tools/threads/package-root.js']) {
      mkdirSync(dirname(join(folder, 'lib', name)), { recursive: true });
      cpSync(join(packageRoot, 'dist/lib', name), join(folder, 'lib', name));
    }
    writeFileSync(join(folder, 'program.js'), program);
  });
  beforeEach(() => {
    rmSync(join(folder, 'leveldb'), { recursive: true, force: true });
    cpSync(join(packageRoot, 'leveldb/prebuilds'), join(folder, 'leveldb/prebuilds'), { recursive: true });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = (before = '', env = {}): Told[] => {
    writeFileSync(join(folder, 'first.js'), before);
    const words = ['--import', join(folder, 'first.js'), join(folder, 'program.js'), join(folder, 'level')];
    const printed = execFileSync(process.execPath, words, { env: { ...process.env, ...env }, encoding: 'utf8' });
    return printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Told);
  };
  const isOld = { property: '', isOurLevel: false };
  const faults = (told: Told[]): string[] => {
    expect(told.map((each) => each.isMainThread)).to.deep.equal([true, false]);
    for (const each of told) expect(each).to.include(isOld);
    expect(told[1]!.levelFaults).to.deep.equal(told[0]!.levelFaults);
    return [...told[0]!.levelFaults];
  };

  it('is loaded in this process', function () {
    if (!isPrebuilt) this.skip();
    expect([isOurLevel, levelFaults]).to.deep.equal([true, []]);
  });

  it('is loaded in the main thread and in worker threads, and leaves no variable to other code', function () {
    if (!isPrebuilt) this.skip();
    const loaded = { property: '1', isOurLevel: true, levelFaults: [] };
    expect(run()).to.deep.equal([
      { isMainThread: true, ...loaded },
      { isMainThread: false, ...loaded },
    ]);
  });

  it('is replaced by that of npm if its file is damaged, in all threads', function () {
    if (!isPrebuilt) this.skip();
    const file = join(folder, 'leveldb', prebuilt);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
    expect(faults(run())).to.deep.equal([
      `${file} cannot be used: The file is damaged: its digest is not that in SHA256SUMS`,
    ]);
  });

  it('is replaced by that of npm if the system cannot load the file', () => {
    rmSync(join(folder, 'leveldb/prebuilds'), { recursive: true });
    const file = join(folder, 'leveldb/compiled/build/Release/classic_level.node');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'no library');
    const [fault] = faults(run());
    expect(fault).to.match(/\/classic_level\.node cannot be used: .*\b(?:ELF|file|mach-o|image)\b/i);
  });

  it('is not used, without a fault, where the package has no file for the platform', () => {
    rmSync(join(folder, 'leveldb'), { recursive: true });
    expect(faults(run())).to.deep.equal([]);
  });

  it('is not used if the program has loaded classic-level before, so that all threads have the same', () => {
    expect(faults(run("import 'classic-level';"))).to.deep.equal([]);
  });

  it('gives way to the file that the environment names', () => {
    const [one, other] = run('', { CLASSIC_LEVEL_PREBUILD: published });
    expect([one!.property, other!.property, one!.left]).to.deep.equal(['', '', published]);
  });

  it('is what its script compiles with the same compiler', function () {
    this.timeout(600_000);
    const compiler = /GCC: (\(.*?\) [\d.]+)/.exec(readFileSync(join(packageRoot, 'leveldb', prebuilt), 'latin1'))![1]!;
    const script = join(packageRoot, 'leveldb/build.mjs');
    const ours = (() => {
      try {
        return execFileSync('g++', ['--version'], { encoding: 'utf8' });
      } catch {
        return '';
      }
    })();
    if (!isPrebuilt || process.env['QUADPOD_SPECS'] !== 'all' || !ours.includes(compiler)) this.skip();
    expect(execFileSync(process.execPath, [script, '--compare'], { encoding: 'utf8' })).to.match(
      /is what this machine/,
    );
  });
});

describe('Damaged tables of LevelDB', function () {
  this.timeout(120_000);
  let folder: string;
  const text = (number: number): string => `value ${number} `.repeat(8);
  const keys = Array.from({ length: 3000 }, (_, number) => `key ${String(number).padStart(6, '0')}`);

  before(async function () {
    if (!isOurLevel) this.skip();
    folder = mkdtempSync(join(tmpdir(), 'quadpod-table-'));
    const level = new ClassicLevel(join(folder, 'whole'));
    await level.open();
    await level.batch(keys.map((key, number) => ({ type: 'put', key, value: text(number) })));
    await level.compactRange('a', 'z');
    await level.close();
  });
  after(() => folder && rmSync(folder, { recursive: true }));

  /** Reads everything in every way. @returns the number of errors. Fails for wrong content */
  async function errorsOf(level: ClassicLevel): Promise<number> {
    let errors = 0;
    const isRight = async (read: () => Promise<unknown>, right: unknown): Promise<void> => {
      const found = await read().then(
        (value) => ({ value }),
        () => undefined,
      );
      if (found) expect(found.value).to.deep.equal(right);
      else errors++;
    };
    const values = keys.map((_, number) => text(number));
    for (const number of [0, 1, 700, 1500, 2998, 2999]) await isRight(() => level.get(keys[number]!), text(number));
    await isRight(() => level.getMany(keys), values);
    await isRight(() => level.values().all(), values);
    await isRight(() => level.keys({ reverse: true }).all(), [...keys].reverse());
    for (let at = 0; at < keys.length; at += 300) {
      const range = { gte: keys[at]!, limit: 250 };
      await isRight(() => level.values(range).all(), values.slice(at, at + 250));
    }
    await isRight(() => level.compactRange('a', 'z'), undefined);
    // If the compaction was written, it must not contain anything wrong.
    await isRight(() => level.values().all(), values);
    return errors;
  }

  it('gives an error or the right content for a flipped bit at every position, in reads, iterators and compactions', async () => {
    const table = readdirSync(join(folder, 'whole')).find((name) => /\.ldb$/.test(name))!;
    const whole = readFileSync(join(folder, 'whole', table));
    const copy = join(folder, 'copy');
    // Every 40th part of the table, and each byte of the footer (48 bytes at the end) and of the index before it.
    const spread = Array.from({ length: 40 }, (_, part) => Math.floor((whole.length * part) / 40) + 3);
    const footer = Array.from({ length: 60 }, (_, back) => whole.length - 1 - back);
    let found = 0;
    // LevelDB reads a table without its filter if that is damaged, and the padding of the footer has no meaning.
    for (const at of [...spread, ...footer]) {
      cpSync(join(folder, 'whole'), copy, { recursive: true });
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 1 << (at % 8);
      writeFileSync(join(copy, table), bytes);
      const level = new ClassicLevel(copy);
      await level.open();
      if ((await errorsOf(level)) > 0) found++;
      await level.close();
      rmSync(copy, { recursive: true });
    }
    expect(found).to.be.above(30);
  });
});

describe('LevelDB of npm', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-level-'));
  after(() => rmSync(folder, { recursive: true }));

  /** Has two tables in a level. The same in both kinds of LevelDB, apart from the property. */
  const levelOf = (property: string, files: readonly number[]): Level =>
    Object.create(ClassicLevel.prototype as object, {
      status: { value: 'open' },
      getProperty: {
        value: (name: string) => (name.endsWith('together') ? property : String(files[Number(name.at(-1))] ?? 0)),
      },
    }) as Level;

  it('can return deleted entries as soon as a level has two files', () => {
    expect(canReturnDeleted(levelOf('', [4, 1, 1]))).to.equal(false);
    expect(canReturnDeleted(levelOf('', [0, 2]))).to.equal(true);
    expect(canReturnDeleted(levelOf('', [0, 1, 0, 0, 0, 0, 2]))).to.equal(true);
    expect(canReturnDeleted(levelOf('1', [0, 2]))).to.equal(false);
  });

  it('opens storages with small files of earlier versions, and the package too', async () => {
    const small = join(folder, 'small');
    const script = `
      const { ClassicLevel } = require(process.argv[1]);
      (async () => {
        const level = new ClassicLevel(process.argv[2], { maxFileSize: 1 << 20, writeBufferSize: 1 << 20, compression: false });
        await level.open();
        for (let at = 0; at < 8; at++)
          await level.batch(Array.from({ length: 1000 }, (_, n) => ({ type: 'put', key: 'k' + (n * 8 + at), value: 'v'.repeat(500) })));
        await level.compactRange('a', 'z');
        await level.close();
      })();`;
    execFileSync(process.execPath, ['-e', script, published, small]);
    expect(readdirSync(small).filter((name) => name.endsWith('.ldb'))).to.have.length.above(2);
    const level = await openLevel(small);
    expect(await level.keys().all()).to.have.length(8000);
    expect(canReturnDeleted(level)).to.equal(!isOurLevel);
    await level.close();
  });
});
