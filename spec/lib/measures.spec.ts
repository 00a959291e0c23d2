/**
 * Measures of structure and size. Each limit is today's value: lower it when the code gets better, raise it only in a commit that says why.
 * A value more than `slack` below its limit fails too, so that the limits follow the code.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../components/index.js';
import { coreSettings } from '../../lib/server/settings/core-settings.js';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { type Import, importedFiles, importsOf, pathOf, reachOf, sourceFiles } from './source-tree.js';

const [slack, kindsSlack] = [150, 3];

const linesOf = (file: string): number => readFileSync(file, 'utf8').split('\n').length - 1;
const linesIn = (files: readonly string[]): number => files.map(linesOf).reduce((sum, count) => sum + count, 0);

/** Areas by folder; everything else is the core. */
const areas: Readonly<Record<string, readonly string[]>> = {
  query: ['lib/query'],
  console: ['console/src', 'components/console'],
  data: ['lib/exchange', 'components/data', 'components/formats'],
  versions: ['components/versions'],
  extras: ['components/authn-saml', 'components/s3-blobs', 'components/acme', 'components/shared-storage'],
};

const limitsOfAreas = { core: 52_270, query: 17_790, console: 17_290, data: 10_550, versions: 2_300, extras: 3960 };

/** Lines of source that an entry point loads, by static and dynamic imports. */
const limitsOfReach = {
  'lib/resources/patch': 6_560,
  'lib/resources/replace': 5_800,
  'components/formats/formats': 2_650,
  'components/data/transfer/import-worker': 8_725,
};

const maxApiNames = 100;

/** Numbers of things that a reader has to tell apart. They only go down. */
const limitsOfKinds = {
  /** Classes of errors: many of them mean that work runs again. */
  errorClasses: 30,
  /** Files that keep a list of callers that wait for their turn. */
  waitingLists: 3,
  /** Exported names that stand for several things. */
  doubleNames: 18,
  /** Files that distinguish the classes of callers. */
  filesWithCallerClass: 22,
  membersOfPlatform: 22,
  importsOfContract: 17,
  settings: 153,
  /** Waits of a fixed time in specs, and loops around them. */
  sleepsInSpecs: 100,
};

const expectWithin = (what: string, value: number, limit: number): void =>
  void expect(value, `${what} has ${value}`).to.be.within(limit - slack, limit);

/** Imports that load a module: imports of types are erased. */
const isLoading = ({ isType }: Import): boolean => !isType;

/** Returns the names that the modules of a folder export by re-export lists. */
function exportedNames(folder: string): string[] {
  const names = sourceFiles(folder).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^export (?:type )?\{([^}]*)\}|^export const (\w+)/gm)].flatMap(
      ([, list, constant]) =>
        constant === undefined ? list!.split(',').map((name) => name.trim().replace(/^type /, '')) : [constant],
    ),
  );
  return [...new Set(names.filter((name) => name !== ''))].sort();
}

const expectKinds = (what: string, value: number, limit: number): void =>
  void expect(value, `${what} has ${value}`).to.be.within(limit - kindsSlack, limit);

const countOf = (texts: readonly string[], pattern: RegExp): number =>
  texts.map((text) => text.match(pattern)?.length ?? 0).reduce((sum, count) => sum + count, 0);

/** Returns the number of names that several files export. */
function doubleNames(texts: readonly string[]): number {
  const files = new Map<string, number>();
  const declaration = /^export (?:abstract |async )*(?:function\*?|class|interface|type|const|enum) (\w+)/gm;
  for (const text of texts)
    for (const name of new Set(Array.from(text.matchAll(declaration), ([, name]) => name!)))
      files.set(name, (files.get(name) ?? 0) + 1);
  return [...files.values()].filter((count) => count > 1).length;
}

describe('Measures', () => {
  const files = sourceFiles('lib', 'components', 'console/src');

  it('keeps the lines of each area below its limit', () => {
    const areaOf = (file: string): string =>
      Object.entries(areas).find(([, folders]) =>
        folders.some((folder) => pathOf(file).startsWith(`${folder}/`)),
      )?.[0] ?? 'core';
    for (const [area, limit] of Object.entries(limitsOfAreas))
      expectWithin(area, linesIn(files.filter((file) => areaOf(file) === area)), limit);
  });

  it('keeps the lines that an entry point loads below their limit', () => {
    const graph = importedFiles(importsOf(sourceFiles('lib', 'components')).filter(isLoading));
    for (const [entry, limit] of Object.entries(limitsOfReach)) {
      const loaded = new Set(reachOf(graph, `${entry}.ts`)).add(`${entry}.ts`);
      expectWithin(entry, linesIn([...loaded].map((path) => join(packageRoot, path))), limit);
    }
  });

  it('keeps the numbers of kinds of things below their limits', () => {
    const texts = files.map((file) => readFileSync(file, 'utf8'));
    const specs = sourceFiles('spec').map((file) => readFileSync(file, 'utf8'));
    const contract = readFileSync(join(packageRoot, 'lib/component/contract.ts'), 'utf8');
    const [, platform = ''] = /export interface Platform[^{]*\{(.*?)\n\}/s.exec(contract) ?? [];
    const counts: Record<keyof typeof limitsOfKinds, number> = {
      errorClasses: countOf(texts, /^(?:export )?class \w+ extends (?:Error|LwsError)\b/gm),
      waitingLists: texts.filter((text) =>
        /resolve\) =>\s*(?:void )?this\.\w+\.(?:push|set|add)\(|\.push\(resolve\)|(?:waiting|queue)\.(?:push|splice)\(/.test(
          text,
        ),
      ).length,
      doubleNames: doubleNames(texts),
      filesWithCallerClass: texts.filter((text) => /CallerClass|'stranger'/.test(text)).length,
      membersOfPlatform: countOf([platform], /^ {2}(?:readonly )?\w+\??[(:<]/gm),
      importsOfContract: countOf([contract], /^import /gm),
      settings: [coreSettings, ...standardComponents.map(({ settings }) => settings)].flatMap((table) =>
        Object.keys(table),
      ).length,
      sleepsInSpecs: countOf(specs, /\bsleep\(|new Promise(?:<void>)?\(\((?:resolve|wake|done)\) => setTimeout\(/g),
    };
    for (const [what, limit] of Object.entries(limitsOfKinds))
      expectKinds(what, counts[what as keyof typeof counts], limit);
  });

  it('exports at most 100 names to plug-ins, each documented in docs/component.md', () => {
    const names = exportedNames('lib/plugin');
    expect(names.length).to.be.at.most(maxApiNames);
    const page = readFileSync(join(packageRoot, 'docs/component.md'), 'utf8');
    const [, reference = ''] = /\n## Reference\n([\s\S]*)/.exec(page) ?? [];
    const documented = [...reference.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
    expect([...documented].sort()).to.deep.equal(names);
  });
});
