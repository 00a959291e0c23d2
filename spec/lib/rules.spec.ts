/** Rules of docs/rules.md: every citation refers to an existing rule, and each rule is cited by a spec. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

const FOLDERS = ['lib', 'components', 'console', 'spec'];
const SOURCE = /\.(ts|tsx|mjs|md)$/;
const CITATION = /\b[Rr]ules? (\d+\.\d+(?:, \d+\.\d+)*)/g;
/** Comment at the beginning of a file. */
const HEADER = /^\/\*\*[\s\S]*?\*\//;
/** Line with a spec title, alone or in a list of titles. */
const TITLE = /^\s*(?:(?:describe|it)\b|['"`[])/;

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => SOURCE.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);
const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8');
const cited = (text: string) => [...text.matchAll(CITATION)].flatMap((match) => match[1]?.split(', ') ?? []);
const defined = [...textOf('docs/rules.md').matchAll(/^- \*\*(\d+\.\d+)\*\* /gm)].map((match) => match[1] ?? '');

describe('docs/rules.md', () => {
  it('numbers each rule once, in order, under its chapter', () => {
    const byNumber = (a: string, b: string) => {
      const [[chapterA = 0, ruleA = 0], [chapterB = 0, ruleB = 0]] = [
        a.split('.').map(Number),
        b.split('.').map(Number),
      ];
      return chapterA - chapterB || ruleA - ruleB;
    };
    expect(defined).to.not.be.empty;
    expect(defined).to.deep.equal([...new Set(defined)].sort(byNumber));
  });

  it('defines every cited rule', () => {
    const dead = files.flatMap((file) =>
      cited(textOf(file))
        .filter((number) => !defined.includes(number))
        .map((number) => `${file}: rule ${number}`),
    );
    expect(dead).to.deep.equal([]);
  });

  it('lists only rules that a spec cites in a title or its header', () => {
    const tested = new Set(
      files
        .filter((file) => file.startsWith('spec/') && file.endsWith('.spec.ts'))
        .map(textOf)
        .flatMap((text) => [
          ...cited(HEADER.exec(text)?.[0] ?? ''),
          ...text.split('\n').flatMap((line) => (TITLE.test(line) ? cited(line) : [])),
        ]),
    );
    expect(defined.filter((number) => !tested.has(number))).to.deep.equal([]);
  });

  it('is cited at the end of a title', () => {
    const atStart = /^\s*(?:describe|it)(?:\.\w+)?\(['"`][Rr]ules? [\d$]/m;
    expect(files.filter((file) => file.startsWith('spec/') && atStart.test(textOf(file)))).to.deep.equal([]);
  });

  it('is cited instead of documents outside the repository', () => {
    const foreign = new RegExp(`service${String.raw`\.md`}|open-${'points'}`);
    expect(files.filter((file) => foreign.test(textOf(file)))).to.deep.equal([]);
  });
});
