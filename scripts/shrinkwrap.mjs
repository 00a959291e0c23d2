/**
 * Writes npm-shrinkwrap.json for the published package, or removes it with `--remove`. npm applies neither `overrides` nor
 * package-lock.json to a package that is installed as a dependency, so users would get untested versions.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('..', import.meta.url);

/** Returns the lock file without development dependencies. */
export function shrinkwrapOf(lock) {
  const { devDependencies: _ofDevelopment, ...own } = lock.packages[''];
  const packages = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  return { ...lock, packages: { '': own, ...Object.fromEntries(packages) } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const target = new URL('npm-shrinkwrap.json', root);
  if (process.argv.includes('--remove')) rmSync(target, { force: true });
  else {
    const lock = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8'));
    writeFileSync(target, `${JSON.stringify(shrinkwrapOf(lock), null, 2)}\n`);
  }
}
