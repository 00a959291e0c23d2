/** Download sizes of the console: small at first, with editor and charts loaded on demand. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

const { inputs, outputs } = JSON.parse(readFileSync(join(packageRoot, 'dist/console-meta.json'), 'utf8')) as {
  inputs: Readonly<Record<string, unknown>>;
  outputs: Readonly<Record<string, Output>>;
};

/** Returns the output files of modules and of their static imports. */
function loaded(...modules: string[]): Set<string> {
  const found = new Set<string>();
  const left = modules.map((name) => {
    const path = Object.keys(outputs).find((each) => outputs[each]!.entryPoint === `console/src/${name}`);
    expect(path, name).not.to.equal(undefined);
    return path!;
  });
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const { path: next, kind } of outputs[path]!.imports) if (kind === 'import-statement') left.push(next);
  }
  return found;
}

const kilobytes = (paths: Iterable<string>): number =>
  [...paths].reduce((sum, path) => sum + gzipSync(readFileSync(join(packageRoot, path))).length, 0) / 1000;
const without = (from: Set<string>, known: Set<string>): string[] => [...from].filter((path) => !known.has(path));

describe('Sizes of the console, compressed', () => {
  const first = loaded('main.ts', 'pages/browse.ts', 'style.css');

  it('are at most 40 kB for the first load', () => {
    expect(kilobytes(first)).to.be.below(40);
  });

  it('are at most 180 kB for the editor', () => {
    expect(kilobytes(without(loaded('editor/quad-editor.ts'), first))).to.be.below(180);
  });

  it('are at most 25 kB for the map with the coasts', () => {
    const known = new Set([...first, ...loaded('pages/ask.ts')]);
    expect(kilobytes(without(loaded('ask/map.ts'), known))).to.be.below(25);
  });

  it('are at most 60 kB for any other file', () => {
    const editor = loaded('editor/quad-editor.ts');
    for (const path of Object.keys(outputs))
      if (!editor.has(path) && path.endsWith('.js')) expect(kilobytes([path]), path).to.be.below(60);
  });
});

describe('Licences of the console', () => {
  it('are in the package, of every bundled package', () => {
    const text = readFileSync(join(packageRoot, 'dist/console/licences.txt'), 'utf8');
    const names = Object.keys(inputs).flatMap((path) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect(new Set(names)).to.include.all.keys('lit', 'markdown-it', '@codemirror/view');
    for (const name of [...new Set(names), 'world-atlas']) expect(text).to.match(new RegExp(`^${name} \\d`, 'm'));
    expect(text).to.contain('Permission is hereby granted');
  });
});
