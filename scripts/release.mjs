/** `npm run release`: publishes the package with provenance if the requirements of docs/release.md are met. `--check` publishes nothing. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).trim();

const faults = [
  repository === undefined && 'package.json has no "repository". npm requires it for provenance.',
  git('status', '--porcelain') !== '' && 'The working tree has uncommitted changes.',
  !git('tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`) && `The commit has no tag v${version}.`,
  !readFileSync('CHANGELOG.md', 'utf8').includes(`\n## ${version}`) && `CHANGELOG.md has no section ${version}.`,
  process.env.CI === undefined && 'Not running in continuous integration, which signs the provenance.',
].filter(Boolean);

if (faults.length > 0) {
  console.error(`Cannot publish a release:\n${faults.map((fault) => `- ${fault}\n`).join('')}See docs/release.md.`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check'))
  execFileSync('npm', ['publish', '--provenance', '--access', 'public'], { stdio: 'inherit' });
