/** `npm run release`: publishes the package, with provenance, when everything is as docs/release.md says. `--check` publishes nothing. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim();

const faults = [
  repository === undefined &&
    'package.json has no "repository": npm refuses provenance that does not name the repository which the package is built from.',
  git('status', '--porcelain') !== '' && 'There are changes that are not committed.',
  !git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`) && `The commit has no tag v${version}.`,
  !readFileSync('CHANGELOG.md', 'utf8').includes(`\n## ${version}`) && `CHANGELOG.md has no section ${version}.`,
  process.env.CI === undefined && 'This is no continuous integration: provenance is signed by what runs there.',
].filter(Boolean);

if (faults.length > 0) {
  console.error(`This is no release:\n${faults.map((fault) => `- ${fault}\n`).join('')}See docs/release.md.`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check'))
  execFileSync('npm', ['publish', '--provenance', '--access', 'public'], { stdio: 'inherit' });
