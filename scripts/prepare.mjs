/**
 * Run by npm after `npm ci` in a checkout and before `npm pack`: builds the package, which requires the development dependencies,
 * and LevelDB if the package has no file for this platform.
 */
import { execSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const isThere = (name) => {
  try {
    require.resolve(`${name}/package.json`);
    return true;
  } catch {
    return false;
  }
};

if (['typescript', 'esbuild'].every(isThere)) execSync('npm run --silent build', { cwd: root, stdio: 'inherit' });
else if (!existsSync(new URL('../dist/components/main.js', import.meta.url))) {
  console.error(
    'Quadpod is not built. The build requires the development dependencies, which --omit=dev excludes. Run instead:\n' +
      '  npm ci && npm prune --omit=dev',
  );
  process.exitCode = 1;
}

// Without a compiler, the server uses the LevelDB of npm, and says so. The output of `npm pack` stays the name of the file.
if (spawnSync(process.execPath, ['leveldb/build.mjs'], { cwd: root, stdio: ['ignore', 2, 2] }).status !== 0)
  console.error('Quadpod will use the LevelDB of npm, which has defects: see "LevelDB" in docs/operate/README.md.');
