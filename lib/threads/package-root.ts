/** Where the package lies on disk, so that files shipped beside the code are found from source and from `dist`. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const above = dirname(folder);
    if (above === folder)
      throw new Error('The files of Quadpod lie outside of its package: there is no package.json above them.');
    folder = above;
  }
  return folder;
}

export const packageRoot = findRoot();

/** The version of the package, read when it is asked for. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;

/** What to type before the name of a command: as npm says it was called, else by whether this is a checkout with its sources. */
export const asTyped = (): string =>
  ({ exec: 'npx quadpod', start: 'npm start --', 'run-script': 'npm start --' })[process.env['npm_command'] ?? ''] ??
  (existsSync(join(packageRoot, 'tsconfig.json')) ? 'npm start --' : 'quadpod');
