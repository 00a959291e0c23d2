/** The house stands: imports run down the floors, and the packages that a floor may use stay on it. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/threads/package-root.js';
import { longParameterLists } from './long-parameter-lists.js';
import { circlesOf, functionsOf, type Import, importsOf, pathOf, sourceFiles } from './source-tree.js';

/** From the ground up; a folder imports only what is on a lower line. Those on one line may know each other only by the pairs below. */
const floors: readonly (readonly string[])[] = [
  ['lib/errors', 'lib/caches', 'lib/profile'],
  ['lib/threads'],
  ['lib/settings', 'lib/log', 'lib/measures'],
  ['lib/fields', 'lib/json'],
  ['lib/rdf', 'lib/outbound'],
  ['lib/storage'],
  ['lib/query'],
  ['lib/documents'],
  ['lib/authorization'],
  ['lib/resources', 'lib/authentication'],
  ['lib/exchange'],
  ['lib/http'],
  ['lib/component'],
  ['lib/server'],
  ['components'],
];

const levelOf = (place: string): number => floors.findIndex((names) => names.includes(place));

/** The floor that a file of the source tree belongs to. */
function placeOf(file: string): string {
  const [top, second = ''] = relative(packageRoot, file).split(/[/\\]/);
  return top === 'components' ? 'components' : `${top}/${second.replace(/\.[jt]s$/, '')}`;
}

const files = sourceFiles('lib', 'components');
const imports = importsOf(files);

/** The offending lines, to be read in the failure. */
function offences(isOffence: (entry: Import) => boolean): string[] {
  return imports.filter(isOffence).map(({ line }) => line);
}

const isIn = (file: string, folder: string): boolean => relative(packageRoot, file).startsWith(folder);

describe('The house', () => {
  it('has every source file on a floor', () => {
    expect(imports.length).to.be.above(200);
    expect(files.filter((file) => levelOf(placeOf(file)) < 0 && !file.endsWith('index.ts'))).to.deep.equal([]);
  });

  it('has no cache that takes the memory of all its entries when it is made', () => {
    const taking = files.filter((file) => /new LRUCache[^(]*\(\{\s*max:/.test(readFileSync(file, 'utf8')));
    expect(taking).to.deep.equal([]);
  });

  it('has imports that run down the floors', () => {
    const upward = offences(({ file, from }) => {
      if (!from.startsWith('.')) return false;
      const [here, there] = [placeOf(file), placeOf(resolve(dirname(file), from))];
      return here !== there && levelOf(there) >= levelOf(here);
    });
    expect(upward).to.deep.equal([]);
  });

  it('has no component that imports another component', () => {
    const folderOf = (file: string): string | undefined =>
      /components[/\\]([^/\\]+)[/\\]/.exec(relative(packageRoot, file))?.[1];
    const across = offences(({ file, from }) => {
      const [own, other] = [folderOf(file), folderOf(resolve(dirname(file), from))];
      return from.startsWith('.') && own !== undefined && other !== undefined && own !== other;
    });
    expect(across).to.deep.equal([]);
  });

  it('has components that reach the floors through the doors of lib/component alone', () => {
    const around = offences(({ file, from }) => {
      const isFeature = /^components[/\\][^/\\]+[/\\]/.test(relative(packageRoot, file));
      const there = relative(packageRoot, resolve(dirname(file), from));
      return (
        isFeature &&
        from.startsWith('.') &&
        /^lib[/\\]/.test(there) &&
        !/^lib[/\\]component[/\\](?!contract)/.test(there)
      );
    });
    expect(around).to.deep.equal([]);
    const doors = files.filter((file) => isIn(file, 'lib/component/')).length;
    expect(doors).to.be.within(15, 26);
  });

  it('keeps LevelDB and quadstore in storage, and Comunica in query', () => {
    const stray = offences(
      ({ file, from }) =>
        (/^(?:classic-level|abstract-level|quadstore)/.test(from) && !isIn(file, 'lib/storage/')) ||
        (/^@comunica\//.test(from) && !isIn(file, 'lib/query/')),
    );
    expect(stray).to.deep.equal([]);
  });

  it('keeps koa in http, and client sockets in outbound', () => {
    const koa = offences(({ file, from }) => /^@?koa/.test(from) && !isIn(file, 'lib/http/'));
    const sockets = offences(
      ({ file, from }) =>
        /^(?:undici|node:(?:https|net|tls|dgram|dns))/.test(from) &&
        !isIn(file, 'lib/outbound/') &&
        !/import type/.test(readLine(file, from)) &&
        // Of certificates: what they say, and by whom an authority is trusted.
        !isIn(file, 'lib/server/') &&
        !isIn(file, 'lib/component/certificates') &&
        !isIn(file, 'components/acme/'),
    );
    expect([...koa, ...sockets]).to.deep.equal([]);
  });

  it('keeps fast-json-patch and the reader of exact numbers in json', () => {
    const stray = offences(
      ({ file, from }) => /^(?:fast-json-patch|json-custom-numbers)/.test(from) && !isIn(file, 'lib/json/'),
    );
    expect(stray).to.deep.equal([]);
  });

  it('has floors within the query floor, too', () => {
    const storeys = [['access', 'parse'], ['expressions', 'memory'], ['plan'], ['operators'], ['']];
    const storeyOf = (file: string): number => {
      const [, folder = ''] = /^lib\/query\/(?:([^/]+)\/)?[^/]+$/.exec(pathOf(file)) ?? [undefined, 'elsewhere'];
      return storeys.findIndex((names) => names.includes(folder));
    };
    const upward = offences(({ file, from }) => {
      if (!from.startsWith('.') || storeyOf(file) < 0) return false;
      const there = resolve(dirname(file), from);
      return storeyOf(there) >= storeyOf(file) && dirname(there) !== dirname(file);
    });
    expect(upward).to.deep.equal([]);
  });

  it('has no circles', () => {
    expect(circlesOf(imports)).to.deep.equal([]);
  });

  it('imports packages by their names alone, and declares each of them', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
      devDependencies: Record<string, string>;
    };
    const stray = [...imports, ...importsOf(sourceFiles('spec'))].filter(({ file, from, isType }) => {
      if (/^(?:\.|node:)/.test(from)) return false;
      // The index of this one loads five times as many modules.
      if (from === '@comunica/actor-init-query/lib/QueryEngineBase.js') return false;
      // The package by its own name, as others import it.
      if (from === 'quadpod') return isIn(file, 'lib/') || isIn(file, 'components/');
      const isRuntime = !isType && !isIn(file, 'spec/');
      return !Object.hasOwn(dependencies, from) && (isRuntime || !Object.hasOwn(devDependencies, from));
    });
    expect(stray.map(({ line }) => line)).to.deep.equal([]);
  });

  it('has no file above 400 lines', () => {
    const long = files.filter((file) => readFileSync(file, 'utf8').split('\n').length > 401);
    expect(long.map(pathOf)).to.deep.equal([]);
  });

  const functions = files.flatMap(functionsOf);

  it('has no function above 60 lines', () => {
    expect(functions.length).to.be.above(1500);
    expect(functions.filter(({ lines }) => lines > 60)).to.deep.equal([]);
  });

  it('has no function with more than three positional parameters but for those that had them on 2026-11-22', () => {
    const many = functions.filter(({ parameters }) => parameters > 3).map(({ path, name }) => `${path} ${name}`);
    expect(many.filter((each) => !longParameterLists.has(each))).to.deep.equal([]);
    expect([...longParameterLists].filter((each) => !many.includes(each))).to.deep.equal([]);
  });
});

const readLine = (file: string, from: string): string =>
  readFileSync(file, 'utf8')
    .split('\n')
    .find((line) => line.includes(`'${from}'`)) ?? '';
