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
  'lib/authentication': [2.82, 0.27, 1.75, 16.36],
  'lib/authorization': [4.88, 1.04, 1.2, 23.58],
  'lib/component': [4.97, 0.79, 1.58, 23.49],
  'lib/exchange': [2.14, 0.16, 1.13, 6.7],
  'lib/fields': [1.69, 0.16, 1.75, 12.36],
  'lib/http': [2.9, 0.47, 0.93, 9.47],
  'lib/json': [2.92, 0.16, 0.81, 18.19],
  'lib/outbound': [2.28, 0.35, 1.69, 12.15],
  'lib/rdf': [2.62, 0.16, 0.8, 15.5],
  'lib/server': [3.3, 0.51, 1.07, 15.5],
  'lib/storage': [1.84, 0.16, 1.03, 9.51],
  'lib/threads': [3.9, 0.76, 1.28, 16.13],
  'components/backup': [3.48, 0.51, 0.79, 20.17],
  'components/transfer': [2.15, 0.16, 0.98, 7.84],
  'console/src': [4.07, 0.86, 1.38, 21.15],
  'spec/bench': [3.01, 0.23, 1.35, 28.21],
  'spec/clients': [4.99, 0.92, 0.92, 25.46],
  'spec/components': [3.85, 0.57, 0.7, 16.57],
  'spec/console': [3.64, 0.8, 0.7, 17.31],
  'spec/lib': [3.37, 0.24, 0.7, 15.91],
  'spec/operate': [2.33, 0.16, 0.7, 4],
  'spec/properties': [4.35, 0.18, 0.96, 20.38],
  'spec/real': [2.61, 0.35, 1.22, 24.14],
  'spec/stores': [3.95, 0.16, 1.32, 16.67],
  'spec/support': [2.64, 0.44, 1.17, 11.5],
  'spec/w3c': [2.4, 0.16, 0.87, 9.46],
  'documents docs': [1.73, 0.32, 1.44, 4],
  'documents ARCHITECTURE.md': [3.56, 0.23, 1.01, 6.67],
  'documents CONTRIBUTING.md': [2.64, 0.16, 2.24, 4],
  'documents SECURITY.md': [1.84, 1.02, 3.06, 4],
  'documents lib': [2.49, 0.23, 0.88, 5.06],
  'documents components': [2.37, 0.26, 0.94, 4],
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
const maxLongLines = 275;
