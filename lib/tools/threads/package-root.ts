/** Finds the package directory, so that shipped files are found both from source and from `dist`. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder)
      throw new Error('The files of Quadpod are outside its package: no package.json in the directories above.');
    folder = above;
  }
  return folder;
}

export const packageRoot = findRoot();

/** Returns the version of the package, read on each call. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;

/** Returns the command with which the user calls Quadpod: from npm's environment, otherwise by the presence of sources. */
export const asTyped = (): string =>
  ({ exec: 'npx quadpod', start: 'npm start --', 'run-script': 'npm start --' })[process.env['npm_command'] ?? ''] ??
  (existsSync(join(packageRoot, 'tsconfig.json')) ? 'npm start --' : 'quadpod');
