/** Rates of hard words in comments and documents, by folder. A comment that reads well may exceed them. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { commentsOf, type ProseRates, paragraphsOf, ratesOf, read, textFiles } from './prose.js';

const target = { relatives: 0.9, people: 0.05, semicolons: 0.3, starts: 2 };
const targetOfDocuments = { ...target, relatives: 0.8 };
/** A folder with few words may exceed the target by a few occurrences. */
const smallFolder = 0.4;

const foldersIn = (top: string): string[] =>
  readdirSync(join(packageRoot, top), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${top}/${name}`);

const documents = ['docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'lib', 'components'];

function expectRates(place: string, rates: ProseRates, allowed: ProseRates): void {
  const limits = {
    relatives: allowed.relatives + smallFolder,
    people: allowed.people + smallFolder / 4,
    semicolons: allowed.semicolons + smallFolder,
    starts: allowed.starts + 5 * smallFolder,
  };
  for (const [name, limit] of Object.entries(limits))
    expect(rates[name as keyof ProseRates], `${name} in ${place}`).to.be.at.most(limit);
}

describe('Prose', () => {
  for (const folder of [...foldersIn('lib'), ...foldersIn('components'), 'console/src', ...foldersIn('spec')])
    it(`keeps the rates of comments in ${folder}`, () => {
      const texts = textFiles(folder, '.ts').flatMap((file) => commentsOf(read(file)));
      expectRates(folder, ratesOf(texts), target);
    });

  for (const place of documents)
    it(`keeps the rates of documents in ${place}`, () => {
      const texts = textFiles(place, '.md').flatMap((file) => paragraphsOf(read(file)));
      expectRates(`documents ${place}`, ratesOf(texts), targetOfDocuments);
    });

  it('has no line above 160 characters outside of tables in documents', () => {
    const long = documents
      .flatMap((place) => textFiles(place, '.md'))
      .flatMap((file) => {
        const lines = read(file)
          .replace(/```[\s\S]*?```/g, '')
          .split('\n');
        return lines
          .filter((line) => line.length > 160 && !line.startsWith('|') && !/^\s*- \[.*\]\(.*\)/.test(line))
          .map((line) => `${relative(packageRoot, file)}: ${line.slice(0, 60)}`);
      });
    expect(long.length, long.slice(0, 5).join('\n')).to.be.equal(0);
  });
});
