/**
 * Compiles classic-level with classic-level.patch (decision 168). Needs g++ or clang++, patch and Node's headers.
 *   node leveldb/build.mjs              for this machine, into leveldb/compiled, if the package has no file for its platform
 *   node leveldb/build.mjs --prebuild   the file of the package for Linux x64 (glibc 2.28 and later), into leveldb/prebuilds
 *   node leveldb/build.mjs --compare    compiles the same, and fails if the bytes are not those of the package
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const folderOf = (name, from = import.meta.url) => dirname(createRequire(from).resolve(`${name}/package.json`));
const published = folderOf('classic-level');
const macros = folderOf('napi-macros', join(published, 'binding.js'));
/** Where Node's headers are if they were installed with it. */
const headers = join(dirname(dirname(process.execPath)), 'include/node');
export const prebuilt = join(here, 'prebuilds/linux-x64/classic-level.glibc.node');
const sums = join(here, 'prebuilds/SHA256SUMS');
const compiled = join(here, 'compiled/build/Release/classic_level.node');

const systems = {
  linux: {
    include: 'linux',
    flags: ['-DOS_LINUX=1', '-static-libstdc++', '-static-libgcc', '-Wl,-Bsymbolic', '-Wl,--gc-sections', '-Wl,-s'],
  },
  darwin: { include: 'mac', flags: ['-DOS_MACOSX=1', '-undefined', 'dynamic_lookup'] },
};

/** Functions for which old-glibc.cc has the version of an old glibc. */
const wrapped = ['pthread_create', 'pthread_once', '__pthread_key_create', 'stat'];
const forOldSystems = [
  ...wrapped.map((name) => `-Wl,--wrap=${name}`),
  `-Wl,--version-script=${join(here, 'exports.map')}`,
  // Otherwise the file would depend on the time and place of the build.
  ...['-Wl,--build-id=none', '-Wl,--as-needed'],
  join(here, 'old-glibc.cc'),
];

const compiler = () =>
  [process.env.CXX, 'g++', 'clang++'].find((name) => name && spawnSync(name, ['--version']).status === 0);

/** What this machine lacks to compile, or undefined. */
export function missing() {
  if (!Object.hasOwn(systems, process.platform))
    return `a build for ${process.platform}, which the script does not have`;
  if (compiler() === undefined) return 'a C++ compiler (g++ or clang++)';
  if (spawnSync('patch', ['--version']).status !== 0) return 'patch';
  if (!existsSync(join(headers, 'node_api.h'))) return `Node's headers in ${headers}`;
  return undefined;
}

/** Names of the sources in a .gyp file, except those for Windows. */
const sourcesIn = (root, file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/"([^"]+\.cc)"/g)]
    .map(([, name]) => join(dirname(file), name.replace('<(ldbversion)', '1.20')))
    .filter((name) => !name.includes('port-libuv'));

/** Compiles into a file. @param own flags of the linker, and further sources */
function compile(target, own) {
  const root = mkdtempSync(join(tmpdir(), 'quadpod-leveldb-'));
  try {
    for (const name of ['binding.cc', 'deps']) cpSync(join(published, name), join(root, name), { recursive: true });
    execFileSync('patch', ['-p1', '--silent', '-i', join(here, 'classic-level.patch')], {
      cwd: root,
      stdio: 'inherit',
    });
    const { include, flags } = systems[process.platform];
    const leveldb = 'deps/leveldb/leveldb-1.20';
    const folders = ['', '/include', '/port', '/util'].map((name) => leveldb + name);
    const sources = ['deps/leveldb/leveldb.gyp', 'deps/snappy/snappy.gyp'].flatMap((file) => sourcesIn(root, file));
    const words = [
      ...['-shared', '-O3', '-std=gnu++17', '-fPIC', '-pthread', '-w', '-ffunction-sections', '-fdata-sections'],
      ...['-fvisibility=hidden', '-fno-rtti', '-fno-exceptions', '-fno-builtin-memcmp'],
      ...Object.entries({ [root]: '.', [here]: 'leveldb', [macros]: 'napi-macros', [headers]: 'node' }).map(
        ([from, to]) => `-ffile-prefix-map=${from}=${to}`,
      ),
      ...['-DSNAPPY=1', '-DLEVELDB_PLATFORM_POSIX=1', '-DHAVE_CONFIG_H=1', '-DNODE_GYP_MODULE_NAME=classic_level'],
      ...[headers, macros, ...folders, `deps/snappy/${include}`, 'deps/snappy/snappy'].map((folder) => `-I${folder}`),
      ...['-o', 'made.node', 'binding.cc', ...sources, ...own, ...flags],
    ];
    execFileSync(compiler(), words, { cwd: root, stdio: 'inherit' });
    mkdirSync(dirname(target), { recursive: true });
    // Renamed from the same directory, so that a reader never finds a part of it.
    cpSync(join(root, 'made.node'), `${target}.new`);
    renameSync(`${target}.new`, target);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Opens a LevelDB in a process of its own, which loads the file. @returns what is wrong with it, or undefined */
export function faultOf(file) {
  const at = mkdtempSync(join(tmpdir(), 'quadpod-leveldb-'));
  // classic-level finds a file in build/Release of the directory that the variable names.
  mkdirSync(join(at, 'build/Release'), { recursive: true });
  cpSync(file, join(at, 'build/Release/classic_level.node'));
  const source =
    "const db = new (require('./index.js').ClassicLevel)(process.argv[1]);" +
    "db.open().then(() => console.log(db.getProperty('leveldb.verifies-checksums')));";
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', source, join(at, 'level')], {
      cwd: published,
      env: { ...process.env, CLASSIC_LEVEL_PREBUILD: at },
      encoding: 'utf8',
    });
    if (status !== 0) return stderr.trim() || 'The process ended.';
    return stdout.trim() === '1' ? undefined : 'It is not compiled with the patch.';
  } finally {
    rmSync(at, { recursive: true });
  }
}

/** Symbol versions of a file that glibc 2.28 does not have, by `objdump`. */
function newSymbols(file) {
  const listed = execFileSync('objdump', ['-T', file], { encoding: 'utf8' });
  return listed.split('\n').filter((line) => {
    const [, version] = /\(?GLIBC_2\.(\d+)/.exec(line) ?? [];
    return Number(version) > 28 || /GLIBCXX|CXXABI|GCC_/.test(line);
  });
}

/** Compiles the file of the package. @throws Error if older systems could not load it */
function compilePrebuilt(target) {
  if (`${process.platform} ${process.arch}` !== 'linux x64')
    throw new Error('This file is compiled on Linux x64 only.');
  compile(target, forOldSystems);
  const found = newSymbols(target);
  if (found.length > 0) throw new Error(`glibc 2.28 does not have these symbols:\n${found.join('\n')}`);
  const fault = faultOf(target);
  if (fault) throw new Error(`The compiled file does not load: ${fault}`);
}

/** Licences of all sources that the file of the package contains. */
function licences() {
  const files = {
    'classic-level': join(published, 'LICENSE'),
    LevelDB: join(published, 'deps/leveldb/leveldb-1.20/LICENSE'),
    Snappy: join(published, 'deps/snappy/snappy/COPYING'),
    'napi-macros': join(macros, 'LICENSE'),
  };
  const texts = Object.entries(files).map(([name, file]) => `# ${name}\n\n${readFileSync(file, 'utf8').trim()}\n`);
  const runtime =
    '# libstdc++ and libgcc\n\nParts of the GCC runtime libraries are linked into the files for Linux. Their licence is the GNU General\n' +
    'Public License, version 3, with the GCC Runtime Library Exception, version 3.1, which permits this under any licence:\n' +
    'https://www.gnu.org/licenses/gcc-exception-3.1.html\n';
  return [...texts, runtime].join('\n');
}

const run = {
  '--prebuild'() {
    compilePrebuilt(prebuilt);
    const sum = createHash('sha256').update(readFileSync(prebuilt)).digest('hex');
    writeFileSync(sums, `${sum}  linux-x64/classic-level.glibc.node\n`);
    writeFileSync(join(here, 'LICENSES.txt'), licences());
    console.log(`${prebuilt} is compiled.`);
  },
  '--compare'() {
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-leveldb-'));
    try {
      compilePrebuilt(join(folder, 'made.node'));
      if (!readFileSync(join(folder, 'made.node')).equals(readFileSync(prebuilt)))
        throw new Error(
          `${prebuilt} differs from what this machine compiles. Compilers of other versions make other files.`,
        );
      console.log(`${prebuilt} is what this machine compiles.`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  ''() {
    const isForThis = `${process.platform} ${process.arch}` === 'linux x64' && existsSync(prebuilt);
    for (const file of [isForThis && prebuilt, compiled])
      if (file && existsSync(file) && faultOf(file) === undefined) return console.log(`${file} is used already.`);
    console.log('Compiling LevelDB. This takes about a minute.');
    compile(compiled, []);
    const fault = faultOf(compiled);
    if (fault) {
      rmSync(compiled);
      throw new Error(`The compiled file does not load: ${fault}`);
    }
    console.log(`LevelDB is compiled with the patch: ${compiled}. A server uses it from its next start.`);
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [word = ''] = process.argv.slice(2);
  const lacks = Object.hasOwn(run, word) ? missing() : undefined;
  try {
    if (!Object.hasOwn(run, word)) throw new Error(`${word} is unknown. Use --prebuild, --compare or nothing.`);
    if (lacks) throw new Error(`LevelDB cannot be compiled here. Missing: ${lacks}.`);
    run[word]();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
