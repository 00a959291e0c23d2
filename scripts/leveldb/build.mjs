/**
 * Compiles the LevelDB of classic-level with versions-together.patch (decision 168). Until it is installed again, classic-level
 * uses the compiled file instead of the one it brings. Needs g++, make, patch and Python.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const patch = fileURLToPath(new URL('versions-together.patch', import.meta.url));
const folder = dirname(createRequire(import.meta.url).resolve('classic-level/package.json'));
const released = join(folder, 'build/Release');
/** Where Node's headers are if they were installed with it. node-gyp downloads them otherwise. */
const prefix = dirname(dirname(process.execPath));

/** Runs a command in the directory of classic-level. @throws Error if it fails */
const run = (command, args, options) => execFileSync(command, args, { cwd: folder, stdio: 'inherit', ...options });

/** Opens a LevelDB in a process of its own, which loads the compiled file. */
const isCompiledIn = () => {
  const at = mkdtempSync(join(tmpdir(), 'quadpod-leveldb-'));
  const source =
    "const db = new (require('./index.js').ClassicLevel)(process.argv[1]);" +
    "db.open().then(() => console.log(db.getProperty('leveldb.keeps-versions-together')));";
  try {
    return run(process.execPath, ['-e', source, at], { stdio: 'pipe', encoding: 'utf8' }).trim() === '1';
  } finally {
    rmSync(at, { recursive: true });
  }
};

if (isCompiledIn()) console.log(`The LevelDB in ${folder} has the patch already.`);
else {
  const sources = join(folder, 'deps/leveldb/leveldb-1.20/db/version_set.cc');
  if (!readFileSync(sources, 'utf8').includes('AddFilesOfLastKey')) run('patch', ['-p1', '--forward', '-i', patch]);
  const headers = existsSync(join(prefix, 'include/node/node_api.h')) ? ` --nodedir="${prefix}"` : '';
  console.log('Compiling LevelDB. This takes about a minute.');
  run('npm', ['exec', '-c', `node-gyp rebuild --loglevel=error${headers}`], {
    env: { ...process.env, CXXFLAGS: '-w', MAKEFLAGS: '-j2 --silent' },
  });
  for (const name of readdirSync(released))
    if (!name.endsWith('.node')) rmSync(join(released, name), { recursive: true });
  if (!isCompiledIn()) throw new Error(`${folder} still uses a LevelDB without the patch.`);
  console.log(`LevelDB is compiled with the patch: ${join(released, 'classic_level.node')}`);
}
