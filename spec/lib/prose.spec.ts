/** Rates of hard words in comments and documents, by folder. They only go down: `unfinished` lists the folders above the target. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/threads/package-root.js';
import { commentsOf, type ProseRates, paragraphsOf, ratesOf, read, textFiles } from './prose.js';

const target = { relatives: 0.9, people: 0.05, semicolons: 0.3, starts: 2 };
const targetOfDocuments = { ...target, relatives: 0.8 };
/** A folder with few words may exceed the target by a few occurrences. */
const smallFolder = 0.4;

/** Today's rates of folders above the target: relatives, people, semicolons, starts. */
const unfinished: Readonly<Record<string, readonly [number, number, number, number]>> = {
  'lib/authentication': [1.3, 0.16, 1.06, 4],
  'lib/exchange': [1.3, 0.16, 1.05, 4],
  'components/backup': [1.3, 0.16, 1.01, 4],
  'components/transfer': [1.3, 0.16, 0.84, 4],
  'spec/bench': [3.01, 0.23, 1.35, 28.21],
  'spec/clients': [4.99, 0.92, 0.92, 25.46],
  'spec/components': [1.95, 0.42, 0.7, 7.33],
  'spec/console': [3.64, 0.8, 0.7, 17.31],
  'spec/operate': [2.33, 0.16, 0.7, 4],
  'spec/properties': [4.24, 0.18, 0.96, 19.71],
  'spec/real': [2.61, 0.35, 1.22, 24.14],
  'spec/stores': [3.95, 0.16, 1.32, 16.67],
  'spec/support': [2.61, 0.43, 1.15, 11.5],
  'spec/w3c': [2.4, 0.16, 0.87, 9.46],
  'documents docs': [1.21, 0.16, 0.94, 4],
  'documents SECURITY.md': [1.21, 0.16, 2.33, 4],
};

const foldersIn = (top: string): string[] =>
  readdirSync(join(packageRoot, top), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${top}/${name}`);

const documents = ['docs', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'lib', 'components'];

function expectRates(place: string, rates: ProseRates, allowed: ProseRates): void {
  const [relatives, people, semicolons, starts] = unfinished[place] ?? [];
  const limits = {
    relatives: relatives ?? allowed.relatives + smallFolder,
    people: people ?? allowed.people + smallFolder / 4,
    semicolons: semicolons ?? allowed.semicolons + smallFolder,
    starts: starts ?? allowed.starts + 5 * smallFolder,
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
    expect(long.length, long.slice(0, 5).join('\n')).to.be.at.most(maxLongLines);
  });
});

/** Today's number of long lines. */
const maxLongLines = 21;
