/** Deleted entries return in the LevelDB of npm, and do not in that of this package and of `leveldb --compile` (decision 168). */

import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ClassicLevel, isOurLevel } from '../../lib/storage/level/classic-level.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { until } from '../support/until.js';

const headers = join(dirname(dirname(process.execPath)), 'include/node/node_api.h');
const canCompile = existsSync(headers) && ['g++', 'patch'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** Keys of 4 KiB fill one block of a file each, so that every second boundary of files is between two versions of a key. */
const keys = Array.from({ length: 1000 }, (_, number) =>
  createHash('sha256').update(String(number)).digest('hex').repeat(64),
).sort();

/**
 * Writes keys, and deletes them while a snapshot is open and keeps their versions. Compactions then move the files of level 1 to
 * level 2, one after the other.
 * @returns how many of the keys can be read afterwards
 */
async function countReturned(Constructor: typeof ClassicLevel): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'quadpod-leveldb-'));
  const level = new Constructor(folder, { compression: false, writeBufferSize: 32 << 20, maxFileSize: 1 << 20 });
  const write = (type: 'put' | 'del') => level.batch(keys.map((key) => ({ type, key, value: 'v' })));
  const filesOfLevel = (number: number) => Number(level.getProperty(`leveldb.num-files-at-level${number}`));
  /** Writes a file with one key. The first ones go to level 2 and 1, and the next files to level 0 because of them. */
  const writeFile = async () => {
    await level.put(`${keys[0]}/`, 'v');
    await level.compactRange('z', 'z');
  };
  try {
    await level.open();
    for (let count = 0; count < 2; count++) await writeFile();
    await write('put');
    const snapshot = level.snapshot();
    await write('del');
    // Four files in level 0 start a compaction, while the snapshot is open.
    for (let count = 0; count < 4; count++) await writeFile();
    await until(() => filesOfLevel(0) === 0);
    await snapshot.close();
    expect(filesOfLevel(1)).to.be.above(4);
    for (let at = 0; at < keys.length; at += 40) await level.compactRange(keys[0]!, keys[at]!);
    return (await level.getMany(keys)).filter((value) => value !== undefined).length;
  } finally {
    await level.close();
    rmSync(folder, { recursive: true });
  }
}

describe('LevelDB with two versions of a key in two files (decision 168)', function () {
  this.timeout(600_000);
  // In the package, because memory disks often do not allow compiled files.
  const folder = join(packageRoot, 'dist/leveldb');
  const inFolder = createRequire(join(folder, 'any.js'));

  before(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    const installed = dirname(createRequire(import.meta.url).resolve('classic-level/package.json'));
    cpSync(installed, join(folder, 'node_modules/classic-level'), { recursive: true });
    cpSync(join(packageRoot, 'leveldb'), join(folder, 'leveldb'), { recursive: true });
    for (const name of ['prebuilds', 'compiled'])
      rmSync(join(folder, 'leveldb', name), { recursive: true, force: true });
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('returns deleted entries as npm installs it (otherwise our LevelDB is no longer needed)', async () => {
    const { ClassicLevel: Published } = inFolder('classic-level') as { ClassicLevel: typeof ClassicLevel };
    expect(await countReturned(Published)).to.be.above(0);
  });

  it('returns none in the LevelDB of the package', async function () {
    if (!isOurLevel) this.skip();
    expect(await countReturned(ClassicLevel)).to.equal(0);
  });

  it('returns none as leveldb --compile compiles it, and a second run finds it compiled', async function () {
    if (!canCompile) this.skip();
    const build = () => execFileSync(process.execPath, [join(folder, 'leveldb/build.mjs')], { encoding: 'utf8' });
    expect(build()).to.include('LevelDB is compiled with the patch');
    expect(build()).to.include('is used already');
    // Another path, since this process has loaded the published file of the first one.
    renameSync(join(folder, 'node_modules/classic-level'), join(folder, 'node_modules/compiled-level'));
    cpSync(join(folder, 'leveldb/compiled/build'), join(folder, 'node_modules/compiled-level/build'), {
      recursive: true,
    });
    const { ClassicLevel: Compiled } = inFolder('compiled-level') as { ClassicLevel: typeof ClassicLevel };
    expect(await countReturned(Compiled)).to.equal(0);
  });
});
